// A Chat Completions stream, one server-sent event at a time, as normalized part events.
// Owns: what a chunk says, what the stream said about its end, and whether it can be believed. Does not own: HTTP (openai-chat.ts), which call a
// piece belongs to and what its pieces make (accumulator).
//
// C1. Everything comes out as it arrives. A piece of a call is passed on with the index, id and name that it has, and nothing is made of them here.
// C2. What cannot be read spoils the attempt. A payload that cannot even be the beginning of a chunk has lost nothing of one: it is passed over,
//     but then a mere end mark is no end.
// C3. A refusal comes on a channel of its own, and the response's stop says what it is.
// C4. Only the first choice counts; no request asks for more.

import { jsonFault } from '../../shared/json-fault.ts'
import { limits } from '../../shared/limits.ts'
import type { PartEvent, Stop, Usage } from '../../shared/messages.ts'
import { exactJson, isObject, parseJson } from './exact-json.ts'
import { finishWord, meaningOf } from './finish-words.ts'
import { errorIn, faultOf } from './openai-chat-errors.ts'
import { usageIn, usageOf } from './openai-chat-usage.ts'
import type { Failed } from './provider.ts'
import { brokenStream } from './provider-errors.ts'
import { providerSaid } from './provider-said.ts'
import { shortReason } from './reason.ts'
import type { ReasoningDetails } from './reasoning-details.ts'
import { addDetails, newReasoningDetails, returnedDetails } from './reasoning-details.ts'

type Json = Record<string, unknown>

/** One response while it streams; `readChunk` changes it in place. */
export type ChatStream = {
  /** Must not come back in what a server says about an error. */
  secret: string
  /** Whose reasoning it is: no other model takes it back. */
  model: string
  /** Our indexes of the blocks of text so far. */
  blocks: Map<'text' | 'refusal' | 'reasoning', number>
  /** Blocks that have come out so far. */
  count: number
  /** The server's own id of the response; empty: it gave none. */
  id: string
  /** The index of the choice that counts (C4); undefined before there was one. */
  choice: unknown
  /** All of it, and the field that it came in. */
  reasoning: { field: 'reasoning_content' | 'reasoning'; text: string } | undefined
  details: ReasoningDetails
  usage: Usage
  /** As the server sent it. */
  rawUsage: Json | undefined
  /** The provider's own word for why it stopped, the newest; empty while none came. */
  finish: string
  /** The word of the server behind a gateway, the newest; empty: none. */
  nativeFinish: string
  /** What all words for the end meant, also those behind another one. */
  signs: Set<ReturnType<typeof meaningOf>>
  /** The word for an end that says that the response failed; undefined: none came. */
  failure: string | undefined
  /** A piece of a call came. */
  hasCalls: boolean
  /** A call without a byte of its arguments came when the word for the end was already there, and no such word since. */
  isOpen: boolean
  /** The end mark came. */
  over: boolean
  /** A payload was passed over (C2). */
  hasUnread: boolean
  /** The last events are out. */
  ended: boolean
  /** Why this attempt is no answer, whatever else comes; undefined: it still may be one. */
  fault: Failed | undefined
}

export function newChatStream({ secret, model }: { secret: string; model: string }): ChatStream {
  return {
    secret,
    model,
    blocks: new Map(),
    count: 0,
    id: '',
    choice: undefined,
    reasoning: undefined,
    details: newReasoningDetails(),
    usage: { inputTokens: 0, outputTokens: 0, cacheReadTokens: 0, cacheWriteTokens: 0 },
    rawUsage: undefined,
    finish: '',
    nativeFinish: '',
    signs: new Set(),
    failure: undefined,
    hasCalls: false,
    isOpen: false,
    over: false,
    hasUnread: false,
    ended: false,
    fault: undefined,
  }
}

/** What one server-sent event means. `name` is its `event:` line. */
export function readChunk(stream: ChatStream, name: string | null, data: string): PartEvent[] {
  const payload = data.trim()
  if (payload === '') return []
  if (payload === '[DONE]') {
    stream.over = true
    return []
  }
  const chunk = parseJson(payload)
  if (!isObject(chunk)) return readOther(stream, name, payload)

  if (stream.id === '' && typeof chunk.id === 'string') stream.id = shortReason(chunk.id)
  const found = choiceOf(stream, chunk)
  const error = errorIn(chunk, name, found?.choice)
  if (error !== undefined) return spoil(stream, faultOf(error))
  const usage = usageIn(chunk, found?.choice)
  if (usage !== undefined) Object.assign(stream, { usage: usageOf(usage), rawUsage: usage })
  return found === undefined ? [] : readChoice(stream, found, payload)
}

/** What is left to say when no more comes: the reasoning as it goes back to the provider, and what the server said about the response. */
export function endChat(stream: ChatStream): PartEvent[] {
  if (stream.ended) return []
  stream.ended = true
  const isWhole = stream.fault === undefined && stopOf(stream) !== 'cut'
  return [...(isWhole ? reasoningBlock(stream) : []), ...saidEvents(stream)]
}

function saidEvents(stream: ChatStream): PartEvent[] {
  const { id, nativeFinish, rawUsage } = stream
  return providerSaid(newIndex(stream), { id, nativeFinish, usage: rawUsage })
}

/** The provider's word in our vocabulary. That it was cut counts whichever of its words says so. */
export function stopOf({ finish, signs, over, choice, hasUnread, blocks, isOpen }: ChatStream): Stop {
  if (signs.has('length')) return 'length'
  if (signs.has('refusal') || (signs.has('end') && blocks.has('refusal'))) return 'refusal'
  if (isOpen && !over) return 'cut'
  if (finish === '') return over && choice !== undefined && !hasUnread ? 'other' : 'cut'
  const meaning = meaningOf(finish)
  return meaning === undefined || meaning === 'failed' ? 'other' : meaning
}

function readOther(stream: ChatStream, name: string | null, payload: string): PartEvent[] {
  if (name === 'error') return spoil(stream, faultOf({ message: payload }))
  if (/^[[{]/.test(payload)) return spoil(stream, brokenStream('an event of the stream is no JSON object'))
  stream.hasUnread = true
  return []
}

/** `at`: its place among the choices. `isFirst`: nothing of it came before. */
type FoundChoice = { choice: Json; at: number; isFirst: boolean }

/** The choice that counts (C4). Servers that leave its index out have only one. */
function choiceOf(stream: ChatStream, { choices }: Json): FoundChoice | undefined {
  if (!Array.isArray(choices)) return undefined
  const given: unknown[] = choices
  const at = given.findIndex((one) => isObject(one) && (stream.choice === undefined || (one.index ?? 0) === stream.choice))
  const choice = given[at]
  if (!isObject(choice)) return undefined
  const isFirst = stream.choice === undefined
  stream.choice = choice.index ?? 0
  return { choice, at, isFirst }
}

function readChoice(stream: ChatStream, { choice, at, isFirst }: FoundChoice, payload: string): PartEvent[] {
  // A server that does not stream sends one message, whole. After pieces a message would say everything again.
  const key = isFirst && !isObject(choice.delta) ? 'message' : 'delta'
  const delta = isObject(choice[key]) ? choice[key] : {}
  const events = [
    ...contentEvents(stream, delta.content),
    ...reasoningEvents(stream, delta),
    ...blockEvents(stream, 'refusal', delta.refusal),
  ]
  const pieces = callPieces(stream, delta, { payload, path: ['choices', at, key] })
  // Some servers say the calls only in the message that they put behind the pieces of the text.
  if (key === 'delta' && pieces.length === 0 && !stream.hasCalls && isObject(choice.message))
    pieces.push(...callPieces(stream, choice.message, { payload, path: ['choices', at, 'message'] }))
  setFinish(stream, choice)
  if (pieces.length > 0) stream.hasCalls = true
  stream.isOpen = key === 'delta' && isOpenAfter(stream, choice, pieces)
  events.push(...pieces)
  if (stream.failure === undefined) return events
  return [...events, ...spoil(stream, brokenStream(`the provider ended the response with '${stream.failure}'`))]
}

/** Whether arguments may still follow the word for the end: a server that says it before a call has any says it in every chunk. */
function isOpenAfter({ finish, isOpen }: ChatStream, choice: Json, pieces: PartEvent[]): boolean {
  if (pieces.some(({ name, text }) => name !== null && text === '')) return finish !== ''
  return isOpen && finishWord(choice.finish_reason) === '' && pieces.every(({ text }) => text === '')
}

/** A text, or a list of parts of which some are thinking. */
function contentEvents(stream: ChatStream, content: unknown): PartEvent[] {
  if (!Array.isArray(content)) return blockEvents(stream, 'text', content)
  return content.filter(isObject).flatMap((part) => {
    if (part.type === 'text') return blockEvents(stream, 'text', part.text)
    if (part.type !== 'thinking') return []
    const thoughts: unknown[] = Array.isArray(part.thinking) ? part.thinking : [{ text: part.thinking }]
    return thoughts.filter(isObject).flatMap(({ text }) => blockEvents(stream, 'reasoning', text))
  })
}

/** Some servers send the same in both fields. */
function reasoningEvents(stream: ChatStream, delta: Json): PartEvent[] {
  const inDetails = addDetails(stream.details, delta.reasoning_details)
  const field = typeof delta.reasoning_content === 'string' && delta.reasoning_content !== '' ? 'reasoning_content' : 'reasoning'
  const text = delta[field]
  if (typeof text !== 'string' || text === '') return blockEvents(stream, 'reasoning', inDetails)
  stream.reasoning = { field: stream.reasoning?.field ?? field, text: (stream.reasoning?.text ?? '') + text }
  return blockEvents(stream, 'reasoning', text)
}

function blockEvents(stream: ChatStream, block: 'text' | 'refusal' | 'reasoning', text: unknown): PartEvent[] {
  if (typeof text !== 'string' || text === '') return []
  const index = stream.blocks.get(block) ?? newIndex(stream)
  stream.blocks.set(block, index)
  return [partEvent(block, index, text)]
}

/** `function_call` is the older form of a single call. */
function callPieces(stream: ChatStream, delta: Json, { payload, path }: { payload: string; path: (string | number)[] }): PartEvent[] {
  const given: unknown = delta.tool_calls
  const entries: unknown[] = Array.isArray(given) ? given : isObject(given) ? [given] : []
  const events: PartEvent[] = []
  const add = (piece: Omit<PartEvent, 'kind'>): void => {
    events.push({ kind: events.some(({ kind }) => kind === 'call_piece') ? 'call_piece_beside' : 'call_piece', ...piece })
  }
  for (const [n, entry] of entries.entries()) {
    if (!isObject(entry)) continue
    const inside = isObject(entry.function) ? ['function'] : []
    const sent = isObject(entry.function) ? entry.function : entry
    const at = [...path, 'tool_calls', ...(Array.isArray(given) ? [n] : []), ...inside, 'arguments']
    const text = argumentPiece(sent.arguments, payload, at)
    add({ index: indexOf(entry.index), id: idOf(entry.id) ?? idOf(sent.id), name: nameOf(sent.name), text })
    const extra = extraOf(entry.extra_content)
    if (extra !== '') events.push({ ...partEvent('call_extra', 0, extra), name: stream.model })
  }
  const older = delta.function_call
  if (!isObject(older)) return events
  const text = argumentPiece(older.arguments, payload, [...path, 'function_call', 'arguments'])
  add({ index: olderForm, id: null, name: nameOf(older.name), text })
  return events
}

const noIndex = -1
const olderForm = -2

function indexOf(given: unknown): number {
  const index = typeof given === 'string' && /^\d+$/.test(given) ? Number(given) : given
  return typeof index === 'number' && Number.isInteger(index) && index >= 0 && index <= 0x7fffffff ? index : noIndex
}

/** Arguments are a text; servers that send the value itself get it written down as they sent it. */
function argumentPiece(given: unknown, payload: string, path: (string | number)[]): string {
  if (typeof given === 'string') return given
  return given === undefined || given === null ? '' : (exactJson(payload, path) ?? '')
}

/** A gateway may call it tool_calls although the model behind it ran into its limit. */
function setFinish(stream: ChatStream, choice: Json): void {
  const finish = finishWord(choice.finish_reason)
  const native = finishWord(choice.native_finish_reason)
  if (finish !== '') stream.finish = shortReason(finish)
  if (native !== '') stream.nativeFinish = shortReason(native)
  for (const word of [finish, native, finishWord(choice.finish_details)]) {
    const meaning = meaningOf(word)
    if (meaning !== undefined) stream.signs.add(meaning)
    if (meaning === 'failed') stream.failure ??= shortReason(word)
  }
}

/** What may have to go back to the same model with the response's calls (openai-chat-messages.ts). */
function reasoningBlock(stream: ChatStream): PartEvent[] {
  const { model, reasoning } = stream
  const details = returnedDetails(stream.details)
  if (reasoning === undefined && details === undefined) return []
  const block = { model, ...(reasoning && { [reasoning.field]: reasoning.text }), ...(details && { reasoning_details: details }) }
  return [partEvent('reasoning_block', newIndex(stream), JSON.stringify(block))]
}

/** Ends the attempt and lets those who read along see why. */
function spoil(stream: ChatStream, fault: Failed): PartEvent[] {
  const reason = shortReason(fault.reason, stream.secret)
  stream.fault ??= { ...fault, reason }
  return [...endChat(stream), partEvent('error', newIndex(stream), reason)]
}

function newIndex(stream: ChatStream): number {
  stream.count += 1
  return stream.count - 1
}

/** A blank name is none. */
function nameOf(name: unknown): string | null {
  return typeof name === 'string' && name.trim() !== '' ? name : null
}

function idOf(id: unknown): string | null {
  return (typeof id === 'string' && id !== '') || typeof id === 'number' ? `${id}` : null
}

/** As JSON; what is nested so deep that nobody could read the history with it is left out. */
function extraOf(extra: unknown): string {
  const text = isObject(extra) ? JSON.stringify(extra) : ''
  return text !== '' && jsonFault(text, limits.argumentDepthMax / 2) === undefined ? text : ''
}

function partEvent(kind: PartEvent['kind'], index: number, text: string): PartEvent {
  return { kind, index, id: null, name: null, text }
}
