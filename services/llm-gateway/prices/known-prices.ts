// The prices of the package @pydantic/genai-prices. Nothing is read from the network.

import { calcPrice, findProvider, type Provider } from '@pydantic/genai-prices'
import type { Model } from '../../../shared/agents/agents.ts'
import type { Usage } from '../../../shared/contract/messages.ts'

/** `usd`: billionths of a US dollar. `version`: of the prices. */
export type Price = { usd: number; version: string }

export type PricedModel = Pick<Model, 'provider' | 'name' | 'baseUrl'>

/** The package does not export its version. A test compares it. */
export const knownPricesVersion = 'genai-prices 0.1.8'

const nanoUsd = 1_000_000_000

/** By provider, server and model. Undefined: no price is known. The search costs 50 us. */
const known = new Map<string, Provider | undefined>()
const knownMax = 1000

/** Undefined: the package does not know the model, or the server at its base URL. */
export function knownUsd(model: PricedModel, usage: Usage): Price | undefined {
  const key = JSON.stringify([model.provider, model.baseUrl, model.name])
  const provider = known.has(key) ? known.get(key) : providerOf(model)
  const price = provider && usdOf(provider, model.name, usage)
  if (known.size >= knownMax) known.clear()
  known.set(key, price && provider)
  return price
}

function providerOf({ provider, baseUrl }: PricedModel): Provider | undefined {
  return findProvider(
    baseUrl === undefined
      ? { providerId: provider.startsWith('openai') ? 'openai' : provider }
      : { providerApiUrl: baseUrl },
  )
}

function usdOf(provider: Provider, name: string, usage: Usage): Price | undefined {
  const { inputTokens, outputTokens, cacheReadTokens, cacheWriteTokens } = usage
  const price = calcPrice(
    {
      input_tokens: inputTokens + cacheReadTokens + cacheWriteTokens,
      output_tokens: outputTokens,
      cache_read_tokens: cacheReadTokens,
      cache_write_tokens: cacheWriteTokens,
    },
    name,
    { provider },
  )
  const usd = price === null ? Number.NaN : Math.ceil(price.total_price * nanoUsd)
  return Number.isSafeInteger(usd) ? { usd, version: knownPricesVersion } : undefined
}
