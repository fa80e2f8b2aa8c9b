// Maps Anthropic's server-sent events to part events. Owns: the block of each event, the end of the
// stream and its validity. Does not own: HTTP (providers.ts), which source of a call's arguments counts
// (accumulator).
//
// An unreadable event spoils the attempt, and so does a message that restarts
// after its blocks began. A payload that cannot begin an event is skipped.
// Events never invent bytes. A start input of {}, null or "" is the protocol's
// placeholder and means no input, and so does the text "null".
// A delta goes only to the block of its index. Our own count tells calls apart, because
// providers reuse indexes.
// Argument bytes without an open block of ours get a separate index and are never
// dropped. Some call lacks them and must not count as complete (I1.1).
// Provider-run blocks (such as server_tool_use) and unknown blocks are never calls. Their
// beginning goes to the log.

import { isPlaceholder } from '../../contract/arguments/no-arguments.ts'
import { limits } from '../../contract/limits.ts'
import type { PartEvent, Stop } from '../../contract/messages.ts'
import { isObject } from '../../lib/json/json-object.ts'
import { sameJson } from '../../lib/json/same-json.ts'
import { finishWord, meaningOf } from '../../transcript/finish-reasons.ts'
import { textOr } from '../../transcript/json-fields.ts'
import { type AnswerKind, type OpenAnswer, openAnswer, spoil } from '../answer-reader.ts'
import { stopOfWord } from '../answer-stop.ts'
import type { SentEvent } from '../event-stream.ts'
import type { ExactValues, Path } from '../exact-json.ts'
import type { Failed } from '../exchange.ts'
import { brokenStream } from '../faults/provider-errors.ts'
import { errorIn, faultOf } from '../faults/sent-errors.ts'
import { shortReason } from '../faults/short-reason.ts'
import type { Json } from '../format.ts'
import { keptApart, newIndex, partEvent, textEvents } from '../part-events.ts'
import { metadataEvents } from '../response-metadata.ts'
import { messagesUsage } from './usage.ts'

/** One response in progress. The functions below change it in place. */
export type MessageStream = OpenAnswer & {
  /** By the provider's index. */
  blocks: Map<number, Block>
  /** The newest provider index, for servers that omit it. */
  newest: number
  /** Blocks of message_start that the stream has not announced, by index. */
  announced: Map<number, SentBlock>
  id: string | undefined
  /** message_start came again after the first block. */
  begunAnew: boolean
  /** The stop reason in message_start. It counts once message_stop confirms the end. */
  foretold: unknown
}

/** `start`: the input of its announcement as JSON; empty: none. */
type OpenCall = {
  kind: 'call'
  index: number
  id: string | null
  name: string
  start: string
  ended: boolean
}

type Block =
  | { kind: 'text'; index: number }
  | { kind: 'thinking'; index: number; content: Record<string, unknown> }
  | OpenCall
  | { kind: 'ignored'; ended: boolean }

/** A content block and its path in the event. */
type SentBlock = { block: unknown; exact: ExactValues; path: Path }

export const messageAnswers: AnswerKind<MessageStream> = {
  begin: ({ secret }) => ({
    ...openAnswer(secret),
    blocks: new Map(),
    newest: -1,
    announced: new Map(),
    id: undefined,
    begunAnew: false,
    foretold: undefined,
  }),
  whole: wholeEvents,
  read: readEvent,
  hasEndMark: false,
  spoil,
  end: endMessage,
  stop: stopOf,
}

/**
 * The body of a server that does not stream: a whole message or an error. The start event holds the
 * message verbatim, because parsing would change it. Without a stop reason it may be truncated.
 */
function wholeEvents(whole: unknown, body: string): SentEvent[] {
  if (!isObject(whole) || whole.type !== 'message') return [{ event: null, data: body }]
  const { stop_reason } = whole
  const end = [
    JSON.stringify({ type: 'message_delta', delta: { stop_reason } }),
    '{"type":"message_stop"}',
  ]
  const isOver = finishWord(stop_reason) !== ''
  return [`{"type":"message_start","message":${body}}`, ...(isOver ? end : [])].map((data) => ({
    event: null,
    data,
  }))
}

/** The name counts only if the data has no type. */
function readEvent(
  stream: MessageStream,
  event: Json,
  { name, exact }: { name: string | null; exact: ExactValues },
): PartEvent[] {
  switch (event.type ?? name) {
    case 'message_start':
      return messageStart(stream, event, exact)
    case 'content_block_start':
      return blockStart(stream, indexOf(event, stream.newest + 1), {
        block: event.content_block,
        exact,
        path: ['content_block'],
      })
    case 'content_block_delta':
      return blockDelta(stream, indexOf(event, stream.newest), event.delta, exact)
    case 'content_block_stop':
      return [
        ...stoppedWith(stream, indexOf(event, stream.newest), event.content_block, exact),
        ...blockStop(stream, indexOf(event, stream.newest)),
      ]
    case 'message_delta':
      addUsage(stream, event.usage)
      // Some servers put the reason beside `delta`.
      setFinish(
        stream,
        isObject(event.delta) && finishWord(event.delta.stop_reason) !== ''
          ? event.delta.stop_reason
          : event.stop_reason,
      )
      return meaningOf(stream.finish) === 'failed' ? spoil(stream, failedFinish(stream)) : []
    case 'message_stop':
      stream.over = true
      setFinish(stream, stream.foretold)
      return meaningOf(stream.finish) === 'failed'
        ? spoil(stream, failedFinish(stream))
        : endMessage(stream)
    default: // ping and future types, or an error in any form
      return readOther(stream, name, event)
  }
}

function readOther(stream: MessageStream, name: string | null, event: Json): PartEvent[] {
  const error = errorIn(event.type === undefined ? event : { choices: [], ...event }, name)
  return error === undefined ? [] : spoil(stream, faultOf(error))
}

/** The last events of the response, once its bytes end. */
function endMessage(stream: MessageStream, interruption?: unknown): PartEvent[] {
  if (stream.ended || interruption !== undefined) return []
  stream.ended = true
  const events: PartEvent[] = []
  for (const [index, sent] of stream.announced)
    events.push(...beginBlock(stream, index, sent, 'call_whole'), ...blockStop(stream, index))
  stream.announced.clear()
  return [...events, ...metadataEvents(newIndex(stream), { id: stream.id, usage: stream.rawUsage })]
}

/** The finish reason in our terms. */
function stopOf({
  finish,
  over,
  hasUnread,
}: Pick<MessageStream, 'finish' | 'over' | 'hasUnread'>): Stop {
  if (finish === '') return over && !hasUnread ? 'other' : 'cut'
  return stopOfWord(finish)
}

function messageStart(stream: MessageStream, event: Json, exact: ExactValues): PartEvent[] {
  const message = isObject(event.message) ? event.message : {}
  const id = typeof message.id === 'string' ? message.id : undefined
  // Retrying proxies send it twice. The same message again is harmless unless its blocks restart
  // too. Another id means another response.
  if (stream.count > 0) {
    if (id !== stream.id) return broken(stream, 'another response began in the middle of this one')
    stream.begunAnew = true
    return []
  }
  stream.id = id
  addUsage(stream, message.usage)
  stream.foretold = message.stop_reason
  // One more than the limit, which is enough to detect the excess.
  const blocks: unknown[] = Array.isArray(message.content)
    ? message.content.slice(0, limits.responseItemsMax + 1)
    : []
  for (const [index, block] of blocks.entries())
    stream.announced.set(index, { block, exact, path: ['message', 'content', index] })
  return []
}

function blockStart(stream: MessageStream, at: number, sent: SentBlock): PartEvent[] {
  stream.newest = at
  const before = stream.blocks.get(at)
  if (stream.begunAnew && before !== undefined)
    return broken(stream, 'the response began anew in the middle')
  if (isSameCall(before, sent)) return announcedAgain(stream, before, sent)
  stream.announced.delete(at)
  return beginBlock(stream, at, sent, 'call_start')
}

function broken(stream: MessageStream, reason: string): PartEvent[] {
  return spoil(stream, brokenStream(reason))
}

/** A bound that no honest server reaches. */
const usageFieldsMax = 64

/** Counts are cumulative, so the newest one of each counts. */
function addUsage(stream: MessageStream, usage: unknown): void {
  if (!isObject(usage)) return
  const rawUsage = { ...stream.rawUsage, ...usage }
  if (Object.keys(rawUsage).length <= usageFieldsMax) stream.rawUsage = rawUsage
  stream.usage = { ...stream.usage, ...messagesUsage(usage) }
}

function setFinish(stream: MessageStream, reason: unknown): void {
  const given = finishWord(reason)
  if (given === '') return
  const isEnd = (word: string) =>
    word === '' || meaningOf(word) === 'end' || meaningOf(word) === 'calls'
  if (isEnd(stream.finish) || !isEnd(given)) stream.finish = shortReason(given)
}

function failedFinish({ finish }: MessageStream): Failed {
  return brokenStream(`the provider ended the response with '${finish}'`)
}

/** Some servers send it as text. */
function indexOf({ index }: Json, absent: number): number {
  const given = typeof index === 'string' && /^\d{1,9}$/.test(index) ? Number(index) : index
  return typeof given === 'number' ? given : absent
}

/** `call`: the kind of a call's first event. */
function beginBlock(
  stream: MessageStream,
  at: number,
  sent: SentBlock,
  call: 'call_start' | 'call_whole',
): PartEvent[] {
  if (stream.blocks.size >= limits.responseItemsMax && !stream.blocks.has(at))
    return broken(stream, `the response has more than ${limits.responseItemsMax} blocks`)
  const content = isObject(sent.block) ? sent.block : {}
  switch (content.type) {
    case 'text': {
      const index = newIndex(stream)
      stream.blocks.set(at, { kind: 'text', index })
      return textEvents('text', index, content.text)
    }
    case 'thinking':
    case 'redacted_thinking': {
      const index = newIndex(stream)
      stream.blocks.set(at, { kind: 'thinking', index, content: { ...content } })
      return textEvents('reasoning', index, content.thinking)
    }
    case 'tool_use': {
      const input = startInput(content.input, sent)
      if (input === undefined) return broken(stream, unreadable)
      const index = newIndex(stream)
      const id = typeof content.id === 'string' ? content.id : null
      const name = textOr(content.name)
      stream.blocks.set(at, { kind: 'call', index, id, name, start: input, ended: false })
      return [{ kind: call, index, id, name, text: input }]
    }
    default: {
      stream.blocks.set(at, { kind: 'ignored', ended: false })
      return keptApart(stream, content)
    }
  }
}

const unreadable = 'the input of a call cannot be read'

/** Whether an open call is announced again: then it is one call, not two. */
function isSameCall(before: Block | undefined, { block }: SentBlock): before is OpenCall {
  if (before?.kind !== 'call' || before.ended || before.id === null || !isObject(block))
    return false
  return block.id === before.id && textOr(block.name) === before.name
}

/** The news of a second announcement. */
function announcedAgain(stream: MessageStream, call: OpenCall, sent: SentBlock): PartEvent[] {
  const input = startInput(isObject(sent.block) ? sent.block.input : undefined, sent)
  if (input === undefined) return broken(stream, unreadable)
  if (input === '' || sameJson(input, call.start)) return []
  if (call.start !== '') return broken(stream, 'a call was announced twice, with different inputs')
  call.start = input
  return [partEvent('call_done', call.index, input)]
}

/**
 * `exact`: values of the event. Pieces for a provider-run block belong to it only while it is open.
 */
function blockDelta(
  stream: MessageStream,
  at: number,
  given: unknown,
  exact: ExactValues,
): PartEvent[] {
  const delta = isObject(given) ? given : {}
  const block = stream.blocks.get(at)
  // Ignores the type: a call accepts nothing but arguments.
  if (block?.kind === 'call' && delta.partial_json == null) return strayPiece(stream, delta)
  switch (block?.kind === 'call' ? 'input_json_delta' : delta.type) {
    case 'input_json_delta':
      if ((block?.kind === 'ignored' && !block.ended) || delta.partial_json == null) return []
      return textEvents(
        'call_arguments',
        block?.kind === 'call' ? block.index : newIndex(stream),
        argumentPiece(delta.partial_json, exact),
      )
    case 'text_delta':
      if (block?.kind === 'ignored' && !block.ended) return []
      return textEvents(
        'text',
        block === undefined || block.kind === 'ignored' ? implicitText(stream, at) : block.index,
        delta.text,
      )
    case 'thinking_delta':
      if (block?.kind !== 'thinking') return []
      if (typeof delta.thinking === 'string')
        block.content.thinking = textOr(block.content.thinking) + delta.thinking
      return textEvents('reasoning', block.index, delta.thinking)
    case 'signature_delta':
      return block?.kind === 'thinking' ? signed(stream, block, textOr(delta.signature)) : []
    default: // citations and future types
      return []
  }
}

/** A signature is emitted only with its whole block, so it needs a bound here (R7). */
function signed(
  stream: MessageStream,
  { content }: Extract<Block, { kind: 'thinking' }>,
  signature: string,
): PartEvent[] {
  const signatures = textOr(content.signature) + signature
  content.signature = signatures
  return signatures.length > limits.roundPartsBytesMax
    ? broken(stream, 'the signature of a thinking block is too large')
    : []
}

/**
 * Emits unknown content of a call as arguments of no call. Otherwise a call could run without
 * arguments that were meant for it.
 */
function strayPiece(
  stream: MessageStream,
  { type: _, ...sent }: Record<string, unknown>,
): PartEvent[] {
  const isSomething = Object.values(sent).some((value) => value !== null && value !== '')
  return isSomething ? [partEvent('call_arguments', newIndex(stream), JSON.stringify(sent))] : []
}

/** Some servers send the value itself and not its text. */
function argumentPiece(given: unknown, exact: ExactValues): string {
  return typeof given === 'string' ? given : (exact(['delta', 'partial_json']) ?? '')
}

/** The user should see text even if its block never began. */
function implicitText(stream: MessageStream, at: number): number {
  const index = newIndex(stream)
  stream.blocks.set(at, { kind: 'text', index })
  return index
}

/** Some servers repeat the whole call at its end. */
function stoppedWith(
  stream: MessageStream,
  at: number,
  block: unknown,
  exact: ExactValues,
): PartEvent[] {
  const begun = stream.blocks.get(at)
  if (begun?.kind !== 'call' || begun.ended || !isObject(block)) return []
  return textEvents(
    'call_done',
    begun.index,
    startInput(block.input, { block, exact, path: ['content_block'] }),
  )
}

function blockStop(stream: MessageStream, at: number): PartEvent[] {
  const block = stream.blocks.get(at)
  switch (block?.kind) {
    case 'call':
      if (block.ended) return []
      block.ended = true
      return [partEvent('call_end', block.index, '')]
    case 'ignored':
      block.ended = true
      return []
    case 'thinking':
      stream.blocks.set(at, { kind: 'ignored', ended: true })
      return [partEvent('reasoning_block', block.index, JSON.stringify(block.content))]
    default:
      return []
  }
}

/** The start input as JSON. Empty: a placeholder. Undefined: not representable. */
function startInput(input: unknown, { exact, path }: SentBlock): string | undefined {
  if (input === undefined || input === null) return ''
  const text = exact([...path, 'input'])
  return text !== undefined && isPlaceholder(text) ? '' : text
}
