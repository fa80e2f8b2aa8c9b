// `weir budget prices`: writes the operator's prices to `policies`.

import { hash } from 'node:crypto'
import { providerNames } from '../../../services/llm-gateway/performer/providers/providers.ts'
import { limits } from '../../../shared/contract/limits.ts'
import type { ModelPrice } from '../../../shared/contract/messages.ts'
import { pricesKey } from '../../../shared/contract/topology.ts'
import { WeirError } from '../../../shared/lib/errors.ts'
import { isObject } from '../../../shared/lib/json/json-object.ts'
import { toRecord } from '../../../shared/runtime/record.ts'
import { appendChange } from '../../../shared/runtime/settings/audited-change.ts'
import { removeSetting } from '../../../shared/runtime/settings/removed-settings.ts'
import { readJson } from '../../../shared/settings/json-file.ts'
import { printable } from '../../terminal/text/printable.ts'
import { count } from '../../terminal/text/quantities.ts'
import type { SettingChange } from '../setting-command.ts'

/** `file`: see `pricesIn`. Undefined: removes all own prices. */
export const pricesChange: SettingChange<
  { file?: string | undefined },
  ModelPrice[] | undefined,
  ModelPrice[] | undefined
> = {
  createsLog: true,
  read: ({ file }) =>
    file === undefined
      ? undefined
      : pricesIn(file, readJson(file, pricesBytesMax, printable(file))),
  async write(table, prices, { by }) {
    if (prices === undefined) {
      await removeSetting(table, pricesKey, by)
      return undefined
    }
    const version = `operator ${hash('sha256', JSON.stringify(prices)).slice(0, 12)}`
    const setAt = table.bus.clock.now()
    const message = { type: 'operator-prices', version, prices, setBy: by, setAt } as const
    const topic = `${table.topicPrefix}policies`
    const record = toRecord({ topic, partition: 0, message })
    await appendChange(table, { setting: pricesKey, by, after: message }, [record])
    return prices
  },
  lines: (prices) => [
    prices === undefined
      ? 'the own prices are removed; the known ones count again'
      : `${count(prices.length, 'price')} set, effective from the next model request`,
  ],
}

const pricesBytesMax = 1024 * 1024

const amounts = ['input', 'output', 'cacheRead', 'cacheWrite'] as const

/**
 * `{ "openai-chat/my-model": { "input": 0.5, "output": 1.5 } }`: US dollars per million tokens.
 * Without `cacheRead` or `cacheWrite` the price of `input` counts. Throws `usage`.
 */
export function pricesIn(file: string, content: unknown): ModelPrice[] {
  const invalid = (fault: string) => new WeirError('usage', printable(`${file}: ${fault}`))
  if (!isObject(content)) throw invalid('it must be an object of models')
  const entries = Object.entries(content)
  if (entries.length > limits.pricesMax)
    throw invalid(`it has ${entries.length} models; at most ${limits.pricesMax} are taken`)
  return entries.map(([key, value]) => {
    const [provider = ''] = key.split('/', 1)
    const model = key.slice(provider.length + 1)
    if (!providerNames.some((name) => name === provider) || model === '')
      throw invalid(
        `'${key}' must be PROVIDER/MODEL, with a provider of ${providerNames.join(', ')}`,
      )
    if (!isObject(value)) throw invalid(`'${key}' must have input and output`)
    const unknown = Object.keys(value).find((name) => !amounts.some((known) => known === name))
    if (unknown !== undefined)
      throw invalid(`'${key}.${unknown}' is no price: ${amounts.join(', ')}`)
    const amountOf = (name: (typeof amounts)[number], otherwise?: number): number => {
      const usd = value[name]
      if (usd === undefined && otherwise !== undefined) return otherwise
      if (typeof usd === 'number' && usd >= 0 && usd <= 1_000_000) return Math.round(usd * 1e9)
      const fault = usd === undefined ? 'is missing' : 'must be 0 to 1000000'
      throw invalid(`'${key}.${name}' ${fault}: give US dollars per million tokens`)
    }
    const inputTokens = amountOf('input')
    return {
      provider,
      model,
      inputTokens,
      outputTokens: amountOf('output'),
      cacheReadTokens: amountOf('cacheRead', inputTokens),
      cacheWriteTokens: amountOf('cacheWrite', inputTokens),
    }
  })
}
