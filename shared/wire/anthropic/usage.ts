// Anthropic's token counts in our terms.

import type { Usage } from '../../contract/messages.ts'
import { noUsage } from '../../contract/turn/no-usage.ts'
import { isCount, isUnreadable } from '../token-count.ts'

const fields = [
  ['inputTokens', 'input_tokens'],
  ['outputTokens', 'output_tokens'],
  ['cacheReadTokens', 'cache_read_input_tokens'],
  ['cacheWriteTokens', 'cache_creation_input_tokens'],
] as const

/** Only the counts that `usage` has. */
export function messagesUsage(usage: Record<string, unknown>): Partial<Usage> {
  if (fields.some(([, sent]) => isUnreadable(usage[sent]))) return noUsage
  return Object.fromEntries(
    fields.flatMap(([field, sent]) => (isCount(usage[sent]) ? [[field, usage[sent]]] : [])),
  )
}
