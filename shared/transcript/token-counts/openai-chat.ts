// Token counts of Chat Completions in our terms.

import type { Usage } from '../../contract/messages.ts'
import { isObject } from '../../lib/json/json-object.ts'

type Json = Record<string, unknown>

/**
 * The usage in a chunk, in any of its places; undefined: none. Counts are cumulative, so the newest
 * is complete.
 */
export function usageIn(chunk: Json, choice: Json | undefined): Json | undefined {
  if (isObject(chunk.usage)) return chunk.usage
  if (isObject(choice?.usage)) return choice.usage
  return isObject(chunk.x_groq) && isObject(chunk.x_groq.usage) ? chunk.x_groq.usage : undefined
}

export function usageOf(usage: Json): Usage {
  const details = isObject(usage.prompt_tokens_details) ? usage.prompt_tokens_details : {}
  const prompt = countOf(usage.prompt_tokens)
  const cacheReadTokens =
    countOf(details.cached_tokens) ||
    countOf(usage.prompt_cache_hit_tokens) ||
    countOf(usage.cached_tokens)
  const cacheWriteTokens = countOf(details.cache_write_tokens)
  return {
    // The prompt's count includes cached tokens; ours does not.
    inputTokens: Math.max(prompt - cacheReadTokens - cacheWriteTokens, 0),
    // Some servers count thinking only in the total.
    outputTokens: Math.max(countOf(usage.completion_tokens), countOf(usage.total_tokens) - prompt),
    cacheReadTokens,
    cacheWriteTokens,
  }
}

function countOf(value: unknown): number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 ? value : 0
}
