// Context full: how a request that does not fit into its model's context is known, and what is said
// about it. There is no standard for it: Anthropic and most servers of Chat Completions say it in
// words only. Each wording below is one that such a server uses today; a new one is a line here and
// in the test. What is not recognised stays a refusal with the provider's own text.

import { limits } from '../../../shared/contract/limits.ts'
import type { HistoryEntry } from '../../../shared/contract/messages.ts'
import type { Failed } from './provider.ts'

/**
 * What a provider said about a request. `status`: of HTTP, if there is one; `words`: its types and
 * codes; `said`: its message.
 */
export type ProviderWords = { status: number | undefined; words: unknown[]; said: string }

/** Types and codes that mean nothing else. */
const codes = new Set([
  'context_length_exceeded', // OpenAI, and who follows it
  'exceed_context_size_error', // llama.cpp
  'request_too_large', // Anthropic: over 32 MB, whatever the model takes
  'model_max_prompt_tokens_exceeded', // GitHub
])

const wordings = [
  /\bprompt is too long\b/i, // Anthropic: prompt is too long: 213462 tokens > 200000 maximum
  /\binput is too long\b/i, // Bedrock
  /\bmaximum context length\b/i, // OpenAI, vLLM, Mistral, DeepSeek, OpenRouter
  /\bcontext length (?:is|of) only\b/i, // vLLM since 0.16, LM Studio
  /\bprompt \(length \d+\) is longer than the maximum model length\b/i, // vLLM, for models with an encoder and without
  /\bexceeds?\b.{0,40}\bcontext (?:limit|window|length|size)\b/i, // Anthropic, OpenAI, Ollama, llama.cpp
  /\bcontext (?:window|length|size)\b.{0,20}\bexceed/i, // LM Studio, MiniMax
  /\b(?:greater|longer|larger) than the (?:model'?s )?(?:maximum )?context (?:length|size|window)\b/i, // LM Studio, SGLang
  /\bmaximum prompt length\b/i, // xAI
  /\binput token count\b.{0,40}\bexceeds\b/i, // Gemini
  /\bexceeded model token limit\b/i, // Kimi
  /`inputs` (?:tokens \+|must have less than)/i, // Text Generation Inference
  /\breduce the length of (?:the|your) (?:messages|input|prompt)\b/i, // OpenAI, Groq, vLLM
]

/**
 * 413 is about the size of the request whoever says it; 429 is about a rate, also where it counts
 * tokens.
 */
export function saysContextFull({ status, words, said }: ProviderWords): boolean {
  if (status === 413) return true
  if (status === 401 || status === 403 || status === 429) return false
  return (
    words.some((word) => typeof word === 'string' && codes.has(word)) ||
    wordings.some((wording) => wording.test(said))
  )
}

/**
 * The same request will be refused again, and a longer one too. `detail`: how we know, in a clause.
 * The advice comes first: reasons are cut.
 */
export function contextFull(detail: string): Failed {
  const advice =
    'begin a new conversation, where tools return less, or use a model with a larger context'
  return {
    kind: 'failed',
    code: 'provider.refused',
    class: 'context_full',
    reason: `the model's context is full; ${advice} (${detail})`,
    retryable: false,
    retryAfterMs: null,
  }
}

/** The provider's word for a response that ended where the context did. */
export function isContextEnd(finish: string): boolean {
  return finish === 'model_context_window_exceeded'
}

/**
 * Of what a request would have to say of its history; undefined: it is within
 * `limits.historyBytesMax`.
 */
export function historyTooLarge(history: HistoryEntry[]): Failed | undefined {
  const bytes = history.reduce((sum, entry) => sum + bytesOf(entry), 0)
  if (bytes <= limits.historyBytesMax) return undefined
  return contextFull(
    `the conversation's history has ${bytes} bytes; at most ${limits.historyBytesMax} are sent`,
  )
}

function bytesOf({ user, response, results, note }: HistoryEntry): number {
  const texts = [user ?? '', note ?? '', ...results.map(({ text }) => text)]
  if (response !== null)
    texts.push(response.text, response.reasoning, ...response.calls.map(({ raw }) => raw))
  return texts.reduce((sum, text) => sum + Buffer.byteLength(text), 0)
}
