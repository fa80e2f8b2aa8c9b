// Maps Anthropic's server-sent events to part events. Owns: the end of the stream and its validity.
// Does not own: HTTP (connect.ts), blocks (blocks.ts), which source of a call's arguments counts
// (accumulator).
//
// ANTHROPIC-EVENTS-1. An unreadable event spoils the attempt, and so does a message that restarts
//     after its blocks began. A payload that cannot begin an event is skipped.

import { limits } from '../../contract/limits.ts'
import type { PartEvent, Stop } from '../../contract/messages.ts'
import { isObject } from '../../lib/json/json-object.ts'
import { finishWord, meaningOf } from '../../transcript/finish-reasons.ts'
import { type AnswerKind, type OpenAnswer, openAnswer, spoil } from '../answer-reader.ts'
import { stopOfWord } from '../answer-stop.ts'
import type { SentEvent } from '../event-stream.ts'
import type { ExactValues } from '../exact-json.ts'
import type { Failed } from '../exchange.ts'
import { brokenStream } from '../faults/provider-errors.ts'
import { errorIn, faultOf } from '../faults/sent-errors.ts'
import { shortReason } from '../faults/short-reason.ts'
import type { Json } from '../format.ts'
import { newIndex } from '../part-events.ts'
import { metadataEvents } from '../response-metadata.ts'
import {
  announcedAgain,
  type Blocks,
  beginBlock,
  blockDelta,
  blockStop,
  isSameCall,
  type SentBlock,
  stoppedWith,
} from './blocks.ts'
import { messagesUsage } from './usage.ts'

/** One response in progress. */
export type MessageStream = OpenAnswer &
  Blocks & {
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
      return orSpoiled(
        stream,
        blockDelta(stream, indexOf(event, stream.newest), event.delta, exact),
      )
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
    events.push(
      ...orSpoiled(stream, beginBlock(stream, index, sent, 'call_whole')),
      ...blockStop(stream, index),
    )
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
    if (id !== stream.id)
      return spoil(stream, brokenStream('another response began in the middle of this one'))
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
    return spoil(stream, brokenStream('the response began anew in the middle'))
  if (isSameCall(before, sent)) return orSpoiled(stream, announcedAgain(before, sent))
  stream.announced.delete(at)
  return orSpoiled(stream, beginBlock(stream, at, sent, 'call_start'))
}

function orSpoiled(stream: MessageStream, events: PartEvent[] | string): PartEvent[] {
  return typeof events === 'string' ? spoil(stream, brokenStream(events)) : events
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
