// Recognizes an error in which a provider's filter declines the content of a conversation.
// finish-reasons.ts recognizes it at the end of a response. There is no standard: servers use each
// code and wording below. Add a new one here and to the test. An unknown wording stays a refusal or
// a retried error, with the provider's text.

import type { Failed } from '../exchange.ts'

/** `words`: types and codes of the error. `statement`: its message. */
export type DeclineWords = { words: unknown[]; statement: string }

const codes = new Set([
  'content_filter', // Azure
  'content_policy_violation', // OpenAI
  'moderation_blocked', // OpenAI
  'ResponsibleAIPolicyViolation', // Azure
  'data_inspection_failed', // DashScope
  'DataInspectionFailed',
])

const wordings = [
  /\bblocked by (?:our )?content (?:filtering|management) policy\b/i, // Anthropic: Output blocked by content filtering policy
  /\bcontent management policy\b/i, // Azure: The response was filtered due to the prompt triggering Azure OpenAI's content management policy.
  /\bviolat\w+ (?:our|the|openai'?s|its) (?:usage|content) polic/i, // OpenAI: … was flagged as potentially violating our usage policy
  /\binput was flagged\b/i, // OpenRouter: Your chosen model requires moderation and your input was flagged for "…".
  /\bmay contain inappropriate content\b/i, // DashScope: Input data may contain inappropriate content.
  /\bContent Exists Risk\b/i, // DeepSeek
]

export function saysContentDeclined({ words, statement }: DeclineWords): boolean {
  return (
    words.some((word) => typeof word === 'string' && codes.has(word)) ||
    wordings.some((wording) => wording.test(statement))
  )
}

/** A retry of the same conversation would be declined too. `detail`: a clause with the evidence. */
export function contentDeclined(detail: string): Failed {
  return {
    kind: 'failed',
    code: 'provider.refused',
    class: 'refused',
    reason: `the provider declines the content of this conversation (${detail})`,
    retryable: false,
    retryAfterMs: null,
  }
}
