// Token counts of the Responses API in our terms.

import type { Usage } from '../../contract/messages.ts'
import { isObject } from '../../lib/json/json-object.ts'
import { countOf, isUnreadable, noTokens } from '../token-count.ts'

/** Keeps TOKEN-COUNT-1. The counts of a cache are parts of the input's. */
export function responsesUsage(usage: Record<string, unknown>): Usage {
  if (isUnreadable(usage.input_tokens) || isUnreadable(usage.output_tokens)) return noTokens
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
