// Token counts of the Responses API in our terms.

import type { Usage } from '../../contract/messages.ts'
import { isObject } from '../../lib/json/json-object.ts'

export function responsesUsage(usage: Record<string, unknown>): Usage {
  const details = isObject(usage.input_tokens_details) ? usage.input_tokens_details : {}
  const cacheReadTokens = countOf(details.cached_tokens)
  const cacheWriteTokens = countOf(details.cache_write_tokens)
  return {
    // The input's count includes cached tokens; ours does not.
    inputTokens: Math.max(countOf(usage.input_tokens) - cacheReadTokens - cacheWriteTokens, 0),
    outputTokens: countOf(usage.output_tokens),
    cacheReadTokens,
    cacheWriteTokens,
  }
}

function countOf(value: unknown): number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 ? value : 0
}
