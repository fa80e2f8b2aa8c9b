// Maps the server-sent events of Chat Completions to part events. Owns: the content of a chunk, the
// end of the stream and its validity. Does not own: HTTP (providers.ts), entries of calls (calls.ts),
// which call a piece belongs to and how pieces join (accumulator).
//
// Everything is emitted as it arrives. A piece of a call keeps its index, id
// and name.
// A refusal has its own channel, and the stop of its response is `refusal`.
// The first choice is the answer. choices.ts adds calls of other choices.
// A response that restarts under another id spoils the attempt: its content
// would be doubled or mixed.

import { limits } from '../../contract/limits.ts'
import type { PartEvent, Stop } from '../../contract/messages.ts'
import { isObject } from '../../lib/json/json-object.ts'
import { finishWord, meaningOf } from '../../transcript/finish-reasons.ts'
import {
  type AnswerKind,
  type OpenAnswer,
  openAnswer,
  spoil as spoilAnswer,
} from '../answer-reader.ts'
import { stopOfWord } from '../answer-stop.ts'
import type { ExactValues } from '../exact-json.ts'
import type { Failed } from '../exchange.ts'
import { brokenStream } from '../faults/provider-errors.ts'
import { errorIn, faultOf } from '../faults/sent-errors.ts'
import { shortReason } from '../faults/short-reason.ts'
import type { Json } from '../format.ts'
import { newIndex, partEvent } from '../part-events.ts'
import { metadataEvents } from '../response-metadata.ts'
import { type Awaited, awaitedAfter, callPieces, mayHaveCalls } from './calls.ts'
import { callsBeside, choicesIn, keepChoice, type OtherChoice, type SentChoice } from './choices.ts'
import { beginsAnew, type Opening, openingAfter } from './opening.ts'
import {
  addDetails,
  newReasoningDetails,
  type ReasoningDetails,
  returnedDetails,
} from './reasoning-details.ts'
import { usageIn, usageOf } from './usage.ts'

/** One response in progress. */
export type ChatStream = OpenAnswer & {
  /** The author of the reasoning, which no other model accepts. */
  model: string
  /** Our indexes of the text blocks. */
  blocks: Map<'text' | 'refusal' | 'reasoning', number>
  /** The server's id of the response; empty: none. */
  id: string
  /** The place of the first choice; undefined: none yet. */
  choice: number | undefined
  /** The content of other choices, by place. */
  others: Map<number, OtherChoice>
  /** The beginning of the response; undefined: no chunk has named the role yet. */
  opening: Opening | undefined
  /** The whole reasoning and its field. */
  reasoning: { field: 'reasoning_content' | 'reasoning'; text: string } | undefined
  details: ReasoningDetails
  /** The reasoning that came as parts of the content. */
  partThinking: string
  /** The newest finish reason of the server behind a gateway; empty: none. */
  nativeFinish: string
  /** The meanings of all finish reasons. */
  signs: Set<ReturnType<typeof meaningOf>>
  /** A finish reason that means failure; undefined: none. */
  failure: string | undefined
  /** A piece of a call came. */
  hasCalls: boolean
  /** The event that must still come before the response is over. */
  awaited: Awaited
  endMark: 'missing' | undefined
}

export const chatAnswers: AnswerKind<ChatStream> = {
  begin: ({ secret, model = '', endMark }) => ({
    ...openAnswer(secret),
    model,
    blocks: new Map(),
    id: '',
    choice: undefined,
    others: new Map(),
    opening: undefined,
    reasoning: undefined,
    details: newReasoningDetails(),
    partThinking: '',
    nativeFinish: '',
    signs: new Set(),
    failure: undefined,
    hasCalls: false,
    awaited: undefined,
    endMark,
  }),
  read: readChunk,
  hasEndMark: true,
  spoil,
  end: endChat,
  stop: stopOf,
  lacksEnd,
}

function readChunk(
  stream: ChatStream,
  chunk: Json,
  { name, exact }: { name: string | null; exact: ExactValues },
): PartEvent[] {
  if (stream.id === '' && typeof chunk.id === 'string') stream.id = shortReason(chunk.id)
  const choices = choicesIn(chunk)
  const error = errorIn(chunk, name, choices)
  if (error !== undefined) return spoil(stream, faultOf(error))
  let isFirst = stream.choice === undefined
  stream.choice ??= choices[0]?.place
  const isOwn = ({ place }: SentChoice) => place === stream.choice
  const usage = usageIn(chunk, choices.find(isOwn)?.choice)
  if (usage !== undefined) Object.assign(stream, { usage: usageOf(usage), rawUsage: usage })
  const events = readOthers(stream, choices, exact)
  for (const choice of choices) {
    if (!isOwn(choice)) continue
    events.push(...readOwn(stream, chunk, choice, { exact, isFirst }))
    isFirst = false
  }
  return events
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
  return isTooMuch ? spoil(stream, brokenStream('the choices after the first are too large')) : []
}

/** The last events: the reasoning to send back, and the server's metadata. */
function endChat(stream: ChatStream): PartEvent[] {
  if (stream.ended) return []
  stream.ended = true
  const events = stream.fault === undefined ? takeOthers(stream) : []
  const isWhole = stream.fault === undefined && stopOf(stream) !== 'cut'
  return [...events, ...(isWhole ? reasoningBlock(stream) : []), ...saidEvents(stream)]
}

function takeOthers(stream: ChatStream): PartEvent[] {
  const taken = stream.hasCalls ? [] : callsBeside(stream.others)
  for (const { words } of taken) {
    // A choice without a finish reason is open, unless the first choice's reason covers calls. A
    // mark ends the response, not the choice.
    if (words.length === 0 && meaningOf(stream.finish) !== 'calls') stream.awaited = 'reason'
    for (const word of words) noteFinish(stream, word, stream.finish === '')
  }
  if (taken.length > 0) stream.hasCalls = true
  const failed = stream.failure === undefined ? [] : spoil(stream, failedFinish(stream.failure))
  return [...taken.flatMap(({ pieces }) => pieces), ...failed]
}

function saidEvents(stream: ChatStream): PartEvent[] {
  const { id, nativeFinish, rawUsage } = stream
  return metadataEvents(newIndex(stream), { id, nativeFinish, usage: rawUsage })
}

/** No reason of any kind came, and no mark. */
function lacksEnd({ finish, signs, over, hasCalls, hasUnread, others }: ChatStream): boolean {
  return hasCalls && finish === '' && signs.size === 0 && !over && !hasUnread && others.size === 0
}

/** The finish reason in our terms. A truncation counts if any reason reports it. */
function stopOf(stream: ChatStream): Stop {
  const { finish, signs, over, choice, hasUnread, blocks, awaited } = stream
  if (stream.endMark === 'missing' && lacksEnd(stream)) return 'other'
  if (signs.has('length')) return 'length'
  if (signs.has('refusal') || (signs.has('end') && blocks.has('refusal'))) return 'refusal'
  if (awaited === 'reason' || (awaited !== undefined && !over)) return 'cut'
  if (finish === '') return over && choice !== undefined && !hasUnread ? 'other' : 'cut'
  return stopOfWord(finish)
}

/** `isFirst`: this choice had no content before. */
function readChoice(
  stream: ChatStream,
  { choice, path }: SentChoice,
  { exact, isFirst }: { exact: ExactValues; isFirst: boolean },
): PartEvent[] {
  // A server that does not stream sends one message. After pieces, a message only repeats them.
  const key = isFirst && !isObject(choice.delta) ? 'message' : 'delta'
  const delta = isObject(choice[key]) ? choice[key] : {}
  const events = contentEvents(stream, delta.content)
  events.push(...reasoningEvents(stream, delta))
  events.push(...blockEvents(stream, 'refusal', delta.refusal))
  const piecesOf = (message: unknown, ...inside: string[]): PartEvent[] =>
    isObject(message) && mayHaveCalls(message)
      ? callPieces(message, { exact, path: [...path, ...inside], model: stream.model })
      : []
  let pieces = piecesOf(delta, key)
  if (pieces.length === 0) pieces = piecesOf(choice)
  // Some servers send calls only in a message after the pieces of the text.
  if (key === 'delta' && pieces.length === 0 && !stream.hasCalls)
    pieces = piecesOf(choice.message, 'message')
  const wasFinished = stream.finish !== ''
  setFinish(stream, choice)
  if (pieces.length > 0) stream.hasCalls = true
  const chunk = { pieces, wasFinished, saysEnd: finishWord(choice.finish_reason) !== '' }
  stream.awaited = key === 'delta' ? awaitedAfter(stream, chunk) : undefined
  events.push(...pieces)
  if (stream.failure === undefined) return events
  return [...events, ...spoil(stream, failedFinish(stream.failure))]
}

/** A text, or a list of parts with text and thinking. */
function contentEvents(stream: ChatStream, content: unknown): PartEvent[] {
  if (!Array.isArray(content)) return blockEvents(stream, 'text', content)
  return content.filter(isObject).flatMap((part) => {
    if (part.type === 'text') return blockEvents(stream, 'text', part.text)
    if (part.type !== 'thinking') return []
    const thoughts: unknown[] = Array.isArray(part.thinking)
      ? part.thinking
      : [{ text: part.thinking }]
    return thoughts.filter(isObject).flatMap(({ text }) => {
      if (typeof text === 'string') stream.partThinking += text
      return blockEvents(stream, 'reasoning', text)
    })
  })
}

/** Some servers send the same text in both fields. */
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

/** A gateway may report tool_calls although the model after it reached its limit. */
function setFinish(stream: ChatStream, choice: Json): void {
  const native = finishWord(choice.native_finish_reason)
  if (native !== '') stream.nativeFinish = shortReason(native)
  noteFinish(stream, finishWord(choice.finish_reason), true)
  noteFinish(stream, native, false)
  noteFinish(stream, finishWord(choice.finish_details), false)
}

/** `isOwn`: the reason of the response itself, not of a server after it or of another choice. */
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

/** The reasoning that the same model may need back with the calls (returned-reasoning.ts). */
function reasoningBlock(stream: ChatStream): PartEvent[] {
  const { model, reasoning, partThinking } = stream
  const details = returnedDetails(stream.details)
  if (reasoning === undefined && details === undefined && partThinking === '') return []
  const block = {
    model,
    ...(reasoning && { [reasoning.field]: reasoning.text }),
    ...(details && { reasoning_details: details }),
    ...(partThinking !== '' && { content_thinking: partThinking }),
  }
  return [partEvent('reasoning_block', newIndex(stream), JSON.stringify(block))]
}

function spoil(stream: ChatStream, fault: Failed): PartEvent[] {
  return spoilAnswer(stream, fault, () => endChat(stream))
}
