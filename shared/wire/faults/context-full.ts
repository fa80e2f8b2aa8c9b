// Recognizes a request that exceeds the model's context, and describes it to the user. There is no
// standard: Anthropic and most servers of Chat Completions only use words. Servers use each wording
// below today. Add a new one here and to the test. An unknown wording stays a refusal with the
// provider's text.

import { limits } from '../../contract/limits.ts'
import type { HistoryEntry } from '../../contract/messages.ts'
import type { Failed } from '../exchange.ts'
import { contentsIn } from '../request/contents.ts'

/**
 * `status`: the HTTP status, if any. `words`: types and codes of the error. `statement`: its message.
 */
export type ProviderWords = { status: number | undefined; words: unknown[]; statement: string }

/** Types and codes with no other meaning. */
const codes = new Set([
  'context_length_exceeded', // OpenAI and compatible servers
  'exceed_context_size_error', // llama.cpp
  'request_too_large', // Anthropic: over 32 MB, for any model
  'model_max_prompt_tokens_exceeded', // GitHub
])

const wordings = [
  /\bprompt is too long\b/i, // Anthropic: prompt is too long: 213462 tokens > 200000 maximum.
  /\binput is too long\b/i, // Bedrock.
  /\bmaximum context length\b/i, // OpenAI, vLLM, Mistral, DeepSeek, OpenRouter.
  /\bcontext length (?:is|of) only\b/i, // vLLM since 0.16, LM Studio.
  /\bprompt \(length \d+\) is longer than the maximum model length\b/i, // vLLM, for models with an encoder and without.
  /\bexceeds?\b.{0,40}\bcontext (?:limit|window|length|size)\b/i, // Anthropic, OpenAI, Ollama, llama.cpp.
  /\bcontext (?:window|length|size)\b.{0,20}\bexceed/i, // LM Studio, MiniMax.
  /\b(?:greater|longer|larger) than the (?:model'?s )?(?:maximum )?context (?:length|size|window)\b/i, // LM Studio, SGLang.
  /\bmaximum prompt length\b/i, // xAI.
  /\binput token count\b.{0,40}\bexceeds\b/i, // Gemini.
  /\bexceeded model token limit\b/i, // Kimi.
  /`inputs` (?:tokens \+|must have less than)/i, // Text Generation Inference.
  /\breduce the length of (?:the|your) (?:messages|input|prompt)\b/i, // OpenAI, Groq, vLLM.
]

/** 413 is always about the size of the request. 429 is about a rate, even if it counts tokens. */
export function saysContextFull({ status, words, statement }: ProviderWords): boolean {
  if (status === 413) return true
  if (status === 401 || status === 403 || status === 429) return false
  return (
    words.some((word) => typeof word === 'string' && codes.has(word)) ||
    wordings.some((wording) => wording.test(statement))
  )
}

/**
 * A retry would be refused too, and so would a longer request. `detail`: a clause with the
 * evidence. The advice comes first, because long reasons are truncated.
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

/** The finish reason of a response that filled the context. */
export function isContextEnd(finish: string): boolean {
  return finish === 'model_context_window_exceeded'
}

/** The failure of a history that exceeds `limits.historyBytesMax`; undefined: it fits. */
export function historyTooLarge(history: HistoryEntry[]): Failed | undefined {
  const bytes = history.reduce((sum, entry) => sum + historyBytes(entry), 0)
  if (bytes <= limits.historyBytesMax) return undefined
  return contextFull(
    `the conversation's history has ${Math.ceil(bytes)} bytes; at most ${limits.historyBytesMax} are sent`,
  )
}

/** Entries never change, and each further request has the same ones. */
const bytesOf = new WeakMap<HistoryEntry, number>()

/** The bytes of an entry in a request. */
export function historyBytes(entry: HistoryEntry): number {
  const bytes = bytesOf.get(entry) ?? countedBytes(entry)
  bytesOf.set(entry, bytes)
  return bytes
}

function countedBytes(entry: HistoryEntry): number {
  const { user, response, results, note } = entry
  // As base64.
  const contentBytes = contentsIn([entry]).reduce((sum, { bytes }) => sum + bytes * (4 / 3), 0)
  const texts = [user ?? '', note ?? '', ...results.map(({ text }) => text)]
  if (response !== null)
    texts.push(response.text, response.reasoning, ...response.calls.map(({ raw }) => raw))
  return texts.reduce((sum, text) => sum + Buffer.byteLength(text), contentBytes)
}
