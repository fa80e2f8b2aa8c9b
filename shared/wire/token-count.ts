// One token count of a provider.
// An unreadable count makes all counts of its usage 0: the other half alone would pass
// for the whole, and a budget would count too little.

import type { Usage } from '../contract/messages.ts'

/** `input` includes the tokens of the cache; ours does not. */
export function usageWithCache(
  input: number,
  output: number,
  cacheReadTokens: number,
  cacheWriteTokens = 0,
): Usage {
  const inputTokens = Math.max(input - cacheReadTokens - cacheWriteTokens, 0)
  return { inputTokens, outputTokens: output, cacheReadTokens, cacheWriteTokens }
}

/** Absent and null count as 0, and so does an unreadable count. */
export function countOf(value: unknown): number {
  return isCount(value) ? value : 0
}

export function isCount(value: unknown): value is number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0
}

/** Present, and no count: negative, broken, too large or no number. */
export function isUnreadable(value: unknown): boolean {
  return value !== undefined && value !== null && !isCount(value)
}
