// Sums of several values of a view. Pure.

import type { Usage } from '../contract/messages.ts'

/** Tokens that the model read, with cached ones. */
export function inputTokensOf(usage: Usage): number {
  return usage.inputTokens + usage.cacheReadTokens + usage.cacheWriteTokens
}

/** All tokens, with cached ones. */
export function tokensOf(usage: Usage): number {
  return inputTokensOf(usage) + usage.outputTokens
}
