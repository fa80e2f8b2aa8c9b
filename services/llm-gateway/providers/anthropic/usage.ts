// What Anthropic's Messages API says about tokens, in our counts.

import type { Usage } from '../../../../shared/contract/messages.ts'

const fields = [
  ['inputTokens', 'input_tokens'],
  ['outputTokens', 'output_tokens'],
  ['cacheReadTokens', 'cache_read_input_tokens'],
  ['cacheWriteTokens', 'cache_creation_input_tokens'],
] as const

/** Those that this usage counts. */
export function messagesUsage(usage: Record<string, unknown>): Partial<Usage> {
  return Object.fromEntries(
    fields.flatMap(([field, sent]) => (isCount(usage[sent]) ? [[field, usage[sent]]] : [])),
  )
}

function isCount(value: unknown): boolean {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0
}
