// Recognizes a refusal of the reasoning in a history. Such a history is refused in every later
// request too, so it is sent once more in the form that answers the refusal. Providers have no code
// for it. Each wording below is in use; add a new one here and to the test. An unknown wording stays
// a refusal with the provider's text.

import type { HistoryEntry, ReasoningRefusal } from '../../contract/messages.ts'
import type { Refusal } from './history-refused.ts'

/** The places of reasoning in a history. Not settings such as `reasoning_effort`. */
const place = String.raw`(?:reasoning_content|reasoning_details|reasoning(?![\w.]*effort)|thinking|thought_signature|extra_content|encrypted_content|(?<=[.'"\x60])phase)`
const near = (one: string, other: string): RegExp =>
  new RegExp(`${one}.{0,80}?${other}|${other}.{0,80}?${one}`, 'is')

const damaged = [
  /\binvalid `?signature`? in `?thinking`?/i, // Anthropic: messages.1.content.0: Invalid `signature` in `thinking` block.
  /\bthinking\.signature\b.{0,40}\bfield required/i, // Anthropic.
  /\bthinking`? .{0,40}blocks? .{0,60}\bcannot be modified/i, // Anthropic: … in the latest assistant message …
  /\beach thinking block must contain\b/i, // Anthropic.
  /\bencrypted[ _]content\b.{0,200}\bcould not be (?:verified|decrypted|parsed)/is, // OpenAI Responses.
  /\binvalid_encrypted_content\b/i, // OpenAI Responses.
  /\bitem .{0,80}\bof type '(?:reasoning|function_call|message)' was provided without its required\b/i, // OpenAI Responses.
  near('(?:corrupt(?:ed)?|invalid|not valid)', 'thought[ _]signature'), // Gemini.
]

const unsigned = [near('missing', 'thought_signature')] // Gemini: Function call is missing a thought_signature in functionCall parts.

const missing = [
  /\bmust be (?:passed|sent|given) back\b/i, // DeepSeek: The `reasoning_content` in the thinking mode must be passed back to the API.
  /\bexpected `?thinking`? or `?redacted_thinking`?,? but found\b/i, // Anthropic.
  near(
    '(?:missing|required|must (?:include|contain|have|be (?:present|provided|included|set)))',
    place,
  ), // Moonshot: thinking is enabled but reasoning_content is missing in assistant tool call message at index 2.
]

const unaccepted = [
  near(
    '(?:extra inputs?|extra_forbidden|additional propert|unknown|unrecogni[sz]ed|unexpected|unsupported|not (?:supported|permitted|allowed|accepted|recogni[sz]ed)|cannot find field|does not match any)',
    place,
  ), // Groq, Cerebras: property 'reasoning_content' is unsupported. Mistral: extra_forbidden. Gemini: Unknown name "reasoning".
]

/** In order: the more specific wordings first. */
const wordings: [Exclude<ReasoningRefusal, 'none'>, RegExp[]][] = [
  ['unsigned', unsigned],
  ['damaged', damaged],
  ['missing', missing],
  ['unaccepted', unaccepted],
]

/** A gateway may report the refusal of the server behind it as a failure. */
const statuses = new Set([undefined, 400, 422, 500, 502])
/** Some servers quote the whole request. */
const statementCharsMax = 65_536

/** Only if the request itself may be refused: another attempt would be refused like this one. */
export function reasoningRefusalIn({ status, statement: whole }: Refusal): ReasoningRefusal {
  if (!statuses.has(status)) return 'none'
  const statement = whole.slice(0, statementCharsMax)
  const namesIt = new RegExp(`${place}|thought signature|encrypted content`, 'i').test(statement)
  if (!namesIt && !/\bof type 'reasoning'|'reasoning' item/.test(statement)) return 'none'
  const found = wordings.find(([, forms]) => forms.some((form) => form.test(statement)))
  return found?.[0] ?? 'none'
}

/** Whether the request differs in the form that answers this refusal. */
export function isAnswerable(refusal: ReasoningRefusal, history: HistoryEntry[]): boolean {
  if (refusal === 'none') return false
  const isFilled = refusal === 'missing' || refusal === 'unsigned'
  return history.some(
    ({ response }) => response !== null && (isFilled || response.reasoning !== ''),
  )
}
