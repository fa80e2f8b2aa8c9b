// Token counts of Chat Completions in our terms.

import type { Usage } from '../../contract/messages.ts'
import { noUsage } from '../../contract/turn/no-usage.ts'
import { isObject } from '../../lib/json/json-object.ts'
import type { Json } from '../format.ts'
import { countOf, isUnreadable, usageWithCache } from '../token-count.ts'

/**
 * The usage in a chunk, in any of its places; undefined: none. Counts are cumulative, so the newest
 * is complete.
 */
export function usageIn(chunk: Json, choice: Json | undefined): Json | undefined {
  if (isObject(chunk.usage)) return chunk.usage
  if (isObject(choice?.usage)) return choice.usage
  return isObject(chunk.x_groq) && isObject(chunk.x_groq.usage) ? chunk.x_groq.usage : undefined
}

/** The counts of a cache are parts of the prompt's. */
export function usageOf(usage: Json): Usage {
  const { prompt_tokens, completion_tokens, total_tokens } = usage
  if ([prompt_tokens, completion_tokens, total_tokens].some(isUnreadable)) return noUsage
  const details = isObject(usage.prompt_tokens_details) ? usage.prompt_tokens_details : {}
  const prompt = countOf(prompt_tokens)
  return usageWithCache(
    prompt,
    // Some servers count thinking only in the total.
    Math.max(countOf(completion_tokens), countOf(total_tokens) - prompt),
    countOf(details.cached_tokens) ||
      countOf(usage.prompt_cache_hit_tokens) ||
      countOf(usage.cached_tokens),
    countOf(details.cache_write_tokens),
  )
}
