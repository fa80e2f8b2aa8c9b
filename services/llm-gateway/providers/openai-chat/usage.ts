// What a chunk of Chat Completions says about tokens, in our counts.

import type { Usage } from '../../../../shared/contract/messages.ts'
import { isObject } from '../../../../shared/lib/json/json-object.ts'

type Json = Record<string, unknown>

/**
 * What a chunk says about usage, wherever the server puts it; undefined: nothing. Counts are
 * cumulative, so the newest one is all.
 */
export function usageIn(chunk: Json, choice: Json | undefined): Json | undefined {
  const beside = isObject(chunk.x_groq) ? chunk.x_groq.usage : undefined
  return [chunk.usage, choice?.usage, beside].find(isObject)
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
    // Here the prompt's tokens include the cached ones; in our count they do not.
    inputTokens: Math.max(prompt - cacheReadTokens - cacheWriteTokens, 0),
    // Some servers leave the thinking out of the completion's tokens, and then only the total has
    // it.
    outputTokens: Math.max(countOf(usage.completion_tokens), countOf(usage.total_tokens) - prompt),
    cacheReadTokens,
    cacheWriteTokens,
  }
}

function countOf(value: unknown): number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 ? value : 0
}
