// Gemini's token counts in our terms.

import type { Usage } from '../../contract/messages.ts'
import { noUsage } from '../../contract/turn/no-usage.ts'
import type { Json } from '../format.ts'
import { countOf, isUnreadable, usageWithCache } from '../token-count.ts'
import { member } from './members.ts'

const fields = [
  'promptTokenCount',
  'toolUsePromptTokenCount',
  'cachedContentTokenCount',
  'candidatesTokenCount',
  'thoughtsTokenCount',
] as const

/** The cached tokens are a part of the prompt's, the thoughts of no other. */
export function geminiUsage(usage: Json): Usage {
  const counts = fields.map((field) => member(usage, field))
  if (counts.some(isUnreadable)) return noUsage
  const [prompt, toolUse, cached, candidates, thoughts] = counts.map(countOf) as [
    ...[number, number, number, number, number],
  ]
  return usageWithCache(prompt + toolUse, candidates + thoughts, cached)
}

/** Sent with these counts, so that a client reads the same ones. */
export function usageMetadata(usage: Usage): Json {
  const { inputTokens, outputTokens, cacheReadTokens, cacheWriteTokens } = usage
  const prompt = inputTokens + cacheReadTokens + cacheWriteTokens
  return {
    promptTokenCount: prompt,
    candidatesTokenCount: outputTokens,
    totalTokenCount: prompt + outputTokens,
    ...(cacheReadTokens > 0 && { cachedContentTokenCount: cacheReadTokens }),
  }
}
