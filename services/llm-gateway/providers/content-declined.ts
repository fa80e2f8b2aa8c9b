// A provider's filter that declines what stands in the conversation: how that is known where it is
// said as an error and not as the end of a response (finish-words.ts). There is no standard for it;
// each code and wording below is one that such a server uses, and a new one is a line here and in
// the test. What is not recognised stays a refusal, or an error that is tried again, with the
// provider's own text.

import type { Failed } from './provider.ts'

/** What a provider said: its types and codes, and its message. */
export type DeclineWords = { words: unknown[]; said: string }

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

export function saysContentDeclined({ words, said }: DeclineWords): boolean {
  return (
    words.some((word) => typeof word === 'string' && codes.has(word)) ||
    wordings.some((wording) => wording.test(said))
  )
}

/** The same conversation will be declined again. `detail`: how we know, in a clause. */
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
