// The prices of the package @pydantic/genai-prices. Nothing is read from the network.

import { calcPrice, findProvider } from '@pydantic/genai-prices'
import type { Model } from '../../../shared/agents/agents.ts'
import type { Usage } from '../../../shared/contract/messages.ts'

/** `usd`: billionths of a US dollar. `version`: of the prices. */
export type Price = { usd: number; version: string }

export type PricedModel = Pick<Model, 'provider' | 'name' | 'baseUrl'>

/** The package does not export its version. A test compares it. */
export const knownPricesVersion = 'genai-prices 0.1.8'

const nanoUsd = 1_000_000_000

/** Undefined: the package does not know the model, or the server at its base URL. */
export function knownUsd(
  { provider, name, baseUrl }: PricedModel,
  usage: Usage,
): Price | undefined {
  const found = findProvider(
    baseUrl === undefined
      ? { providerId: provider.startsWith('openai') ? 'openai' : provider }
      : { providerApiUrl: baseUrl },
  )
  if (found === undefined) return undefined
  const { inputTokens, outputTokens, cacheReadTokens, cacheWriteTokens } = usage
  const price = calcPrice(
    {
      input_tokens: inputTokens + cacheReadTokens + cacheWriteTokens,
      output_tokens: outputTokens,
      cache_read_tokens: cacheReadTokens,
      cache_write_tokens: cacheWriteTokens,
    },
    name,
    { provider: found },
  )
  const usd = price === null ? Number.NaN : Math.ceil(price.total_price * nanoUsd)
  return Number.isSafeInteger(usd) ? { usd, version: knownPricesVersion } : undefined
}
