// The usage of a request without an answer, or of an answer that counts nothing.

import type { Usage } from '../messages.ts'

export const noUsage: Usage = {
  inputTokens: 0,
  outputTokens: 0,
  cacheReadTokens: 0,
  cacheWriteTokens: 0,
}
