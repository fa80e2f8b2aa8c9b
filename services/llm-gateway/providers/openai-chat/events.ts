// A Chat Completions stream, one server-sent event at a time, as normalized part events. Owns: what
// a chunk says, what the stream said about its end, and whether it can be believed. Does not own:
// HTTP (openai-chat.ts), how an entry of a call is written (openai-chat-calls.ts), which call a
// piece belongs to and what its pieces make (accumulator).
//
// OPENAI-CHAT-EVENTS-1. Everything comes out as it arrives. A piece of a call is passed on with the
//     index, id and name that it has, and nothing is made of them here.
// OPENAI-CHAT-EVENTS-2. What cannot be read spoils the attempt. A payload that cannot even be the
//     beginning of a chunk has lost nothing of one: it is passed over, but then a mere end mark is
//     no end.
// OPENAI-CHAT-EVENTS-3. A refusal comes on a channel of its own, and the response's stop says what
//     it is.
// OPENAI-CHAT-EVENTS-4. The first choice is the answer; openai-chat-choices.ts says when calls of
//     another one belong to it.
// OPENAI-CHAT-EVENTS-5. A response that begins anew under another id is another response: what came
//     before and what comes now would be said twice, or glued together.

import { limits } from '../../../../shared/contract/limits.ts'
import type { PartEvent, Stop, Usage } from '../../../../shared/contract/messages.ts'
import { isObject } from '../../../../shared/lib/json/json-object.ts'
import { type Payload, payloadOf } from '../../wire/event-payload.ts'
import type { ExactValues } from '../../wire/exact-json.ts'
import { newIndex, partEvent } from '../../wire/part-events.ts'
import { errorIn, faultOf } from '../../wire/sent-errors.ts'
import { finishWord, meaningOf } from '../finish-words.ts'
import type { Failed } from '../provider.ts'
import { brokenStream } from '../provider-errors.ts'
import { providerSaid } from '../provider-said.ts'
import { shortReason } from '../reason.ts'
import { type Awaited, awaitedAfter, callPieces } from './calls.ts'
import { callsBeside, choicesIn, keepChoice, type OtherChoice, type SentChoice } from './choices.ts'
import { beginsAnew, type Opening, openingAfter } from './opening.ts'
import {
  addDetails,
  newReasoningDetails,
  type ReasoningDetails,
  returnedDetails,
} from './reasoning-details.ts'
import { usageIn, usageOf } from './usage.ts'

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
  /** The place of the choice that counts (OPENAI-CHAT-EVENTS-4); undefined before there was one. */
  choice: number | undefined
  /** What other choices said, by place. */
  others: Map<number, OtherChoice>
  /** How the response began; undefined before a chunk named the role. */
  opening: Opening | undefined
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
  /** What still has to come for the response to be over. */
  awaited: Awaited
  /** The end mark came. */
  over: boolean
  /** A payload was passed over (OPENAI-CHAT-EVENTS-2). */
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
    others: new Map(),
    opening: undefined,
    reasoning: undefined,
    details: newReasoningDetails(),
    usage: { inputTokens: 0, outputTokens: 0, cacheReadTokens: 0, cacheWriteTokens: 0 },
    rawUsage: undefined,
    finish: '',
    nativeFinish: '',
    signs: new Set(),
    failure: undefined,
    hasCalls: false,
    awaited: undefined,
    over: false,
    hasUnread: false,
    ended: false,
    fault: undefined,
  }
}

/** What one server-sent event means. `name` is its `event:` line. */
export function readChunk(stream: ChatStream, name: string | null, data: string): PartEvent[] {
  const sent = payloadOf(name, data)
  if (sent.kind !== 'object') return readOther(stream, sent)
  const { value: chunk, exact } = sent

  if (stream.id === '' && typeof chunk.id === 'string') stream.id = shortReason(chunk.id)
  const choices = choicesIn(chunk)
  const error = errorIn(chunk, name, choices)
  if (error !== undefined) return spoil(stream, faultOf(error))
  const isFirst = stream.choice === undefined
  stream.choice ??= choices[0]?.place
  const own = choices.filter(({ place }) => place === stream.choice)
  const usage = usageIn(chunk, own[0]?.choice)
  if (usage !== undefined) Object.assign(stream, { usage: usageOf(usage), rawUsage: usage })
  return [
    ...readOthers(stream, choices, exact),
    ...own.flatMap((choice, n) =>
      readOwn(stream, chunk, choice, { exact, isFirst: isFirst && n === 0 }),
    ),
  ]
}

function readOwn(
  stream: ChatStream,
  chunk: Json,
  sent: SentChoice,
  how: { exact: ExactValues; isFirst: boolean },
): PartEvent[] {
  if (stream.fault !== undefined) return []
  if (beginsAnew(stream.opening, chunk, sent.choice))
    return spoil(stream, brokenStream('another response began in the middle of this one'))
  stream.opening = openingAfter(stream.opening, chunk, sent.choice)
  return readChoice(stream, sent, how)
}

function readOthers(stream: ChatStream, choices: SentChoice[], exact: ExactValues): PartEvent[] {
  const { others, model } = stream
  let weight = 0
  for (const sent of choices)
    if (sent.place !== stream.choice) keepChoice(others, sent, { exact, model })
  if (others.size > 0) for (const other of others.values()) weight += other.weight
  const isTooMuch = weight > limits.roundPartsBytesMax || others.size > limits.responseItemsMax
  return isTooMuch
    ? spoil(stream, brokenStream('the choices beside the first one are too large'))
    : []
}

/**
 * What is left to say when no more comes: the reasoning as it goes back to the provider, and what
 * the server said about the response.
 */
export function endChat(stream: ChatStream): PartEvent[] {
  if (stream.ended) return []
  stream.ended = true
  const events = stream.fault === undefined ? takeOthers(stream) : []
  const isWhole = stream.fault === undefined && stopOf(stream) !== 'cut'
  return [...events, ...(isWhole ? reasoningBlock(stream) : []), ...saidEvents(stream)]
}

/** Keeps OPENAI-CHAT-EVENTS-4. */
function takeOthers(stream: ChatStream): PartEvent[] {
  const taken = stream.hasCalls ? [] : callsBeside(stream.others)
  for (const { words } of taken) {
    // Nobody said that a choice without a word of its own is over, unless the first one did with a
    // word for all.
    if (words.length === 0 && meaningOf(stream.finish) !== 'calls') stream.awaited = 'mark'
    for (const word of words) noteFinish(stream, word, stream.finish === '')
  }
  if (taken.length > 0) stream.hasCalls = true
  const failed = stream.failure === undefined ? [] : spoil(stream, failedFinish(stream.failure))
  return [...taken.flatMap(({ pieces }) => pieces), ...failed]
}

function saidEvents(stream: ChatStream): PartEvent[] {
  const { id, nativeFinish, rawUsage } = stream
  return providerSaid(newIndex(stream), { id, nativeFinish, usage: rawUsage })
}

/** The provider's word in our vocabulary. That it was cut counts whichever of its words says so. */
export function stopOf({
  finish,
  signs,
  over,
  choice,
  hasUnread,
  blocks,
  awaited,
}: ChatStream): Stop {
  if (signs.has('length')) return 'length'
  if (signs.has('refusal') || (signs.has('end') && blocks.has('refusal'))) return 'refusal'
  if (awaited !== undefined && !over) return 'cut'
  if (finish === '') return over && choice !== undefined && !hasUnread ? 'other' : 'cut'
  const meaning = meaningOf(finish)
  return meaning === undefined || meaning === 'failed' ? 'other' : meaning
}

function readOther(stream: ChatStream, sent: Exclude<Payload, { kind: 'object' }>): PartEvent[] {
  if (sent.kind === 'end') stream.over = true
  if (sent.kind === 'unread') stream.hasUnread = true
  if (sent.kind === 'error') return spoil(stream, faultOf({ message: sent.said }))
  return sent.kind === 'broken'
    ? spoil(stream, brokenStream('an event of the stream is no JSON object'))
    : []
}

/** `isFirst`: nothing of it came before. */
function readChoice(
  stream: ChatStream,
  { choice, path }: SentChoice,
  { exact, isFirst }: { exact: ExactValues; isFirst: boolean },
): PartEvent[] {
  // A server that does not stream sends one message, whole. After pieces a message would say
  // everything again.
  const key = isFirst && !isObject(choice.delta) ? 'message' : 'delta'
  const delta = isObject(choice[key]) ? choice[key] : {}
  const events = [
    ...contentEvents(stream, delta.content),
    ...reasoningEvents(stream, delta),
    ...blockEvents(stream, 'refusal', delta.refusal),
  ]
  const piecesOf = (message: unknown, ...inside: string[]): PartEvent[] =>
    isObject(message)
      ? callPieces(message, { exact, path: [...path, ...inside], model: stream.model })
      : []
  const pieces = piecesOf(delta, key)
  if (pieces.length === 0) pieces.push(...piecesOf(choice))
  // Some servers say the calls only in the message that they put behind the pieces of the text.
  if (key === 'delta' && pieces.length === 0 && !stream.hasCalls)
    pieces.push(...piecesOf(choice.message, 'message'))
  const wasFinished = stream.finish !== ''
  setFinish(stream, choice)
  if (pieces.length > 0) stream.hasCalls = true
  const chunk = { pieces, wasFinished, saysEnd: finishWord(choice.finish_reason) !== '' }
  stream.awaited = key === 'delta' ? awaitedAfter(stream, chunk) : undefined
  events.push(...pieces)
  if (stream.failure === undefined) return events
  return [...events, ...spoil(stream, failedFinish(stream.failure))]
}

/** A text, or a list of parts of which some are thinking. */
function contentEvents(stream: ChatStream, content: unknown): PartEvent[] {
  if (!Array.isArray(content)) return blockEvents(stream, 'text', content)
  return content.filter(isObject).flatMap((part) => {
    if (part.type === 'text') return blockEvents(stream, 'text', part.text)
    if (part.type !== 'thinking') return []
    const thoughts: unknown[] = Array.isArray(part.thinking)
      ? part.thinking
      : [{ text: part.thinking }]
    return thoughts.filter(isObject).flatMap(({ text }) => blockEvents(stream, 'reasoning', text))
  })
}

/** Some servers send the same in both fields. */
function reasoningEvents(stream: ChatStream, delta: Json): PartEvent[] {
  const inDetails = addDetails(stream.details, delta.reasoning_details)
  const field =
    typeof delta.reasoning_content === 'string' && delta.reasoning_content !== ''
      ? 'reasoning_content'
      : 'reasoning'
  const text = delta[field]
  if (typeof text !== 'string' || text === '') return blockEvents(stream, 'reasoning', inDetails)
  stream.reasoning = {
    field: stream.reasoning?.field ?? field,
    text: (stream.reasoning?.text ?? '') + text,
  }
  return blockEvents(stream, 'reasoning', text)
}

function blockEvents(
  stream: ChatStream,
  block: 'text' | 'refusal' | 'reasoning',
  text: unknown,
): PartEvent[] {
  if (typeof text !== 'string' || text === '') return []
  const index = stream.blocks.get(block) ?? newIndex(stream)
  stream.blocks.set(block, index)
  return [partEvent(block, index, text)]
}

/** A gateway may call it tool_calls although the model behind it ran into its limit. */
function setFinish(stream: ChatStream, choice: Json): void {
  const native = finishWord(choice.native_finish_reason)
  if (native !== '') stream.nativeFinish = shortReason(native)
  noteFinish(stream, finishWord(choice.finish_reason), true)
  noteFinish(stream, native, false)
  noteFinish(stream, finishWord(choice.finish_details), false)
}

/** `isOwn`: it is the response's own word, and not of something behind or beside it. */
function noteFinish(stream: ChatStream, word: string, isOwn: boolean): void {
  if (word === '') return
  if (isOwn) stream.finish = shortReason(word)
  const meaning = meaningOf(word)
  if (meaning !== undefined) stream.signs.add(meaning)
  if (meaning === 'failed') stream.failure ??= shortReason(word)
}

function failedFinish(word: string): Failed {
  return brokenStream(`the provider ended the response with '${word}'`)
}

/**
 * What may have to go back to the same model with the response's calls (openai-chat-messages.ts).
 */
function reasoningBlock(stream: ChatStream): PartEvent[] {
  const { model, reasoning } = stream
  const details = returnedDetails(stream.details)
  if (reasoning === undefined && details === undefined) return []
  const block = {
    model,
    ...(reasoning && { [reasoning.field]: reasoning.text }),
    ...(details && { reasoning_details: details }),
  }
  return [partEvent('reasoning_block', newIndex(stream), JSON.stringify(block))]
}

/** Ends the attempt and lets those who read along see why. */
function spoil(stream: ChatStream, fault: Failed): PartEvent[] {
  const reason = shortReason(fault.reason, stream.secret)
  stream.fault ??= { ...fault, reason }
  return [...endChat(stream), partEvent('error', newIndex(stream), reason)]
}
