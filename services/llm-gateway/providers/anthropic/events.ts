// Anthropic's stream, one server-sent event at a time, as normalized part events. Owns: what the
// stream said about its end, and whether it can be believed. Does not own: HTTP (anthropic.ts),
// what is said of a block (anthropic-blocks.ts), which source of a call's arguments counts
// (accumulator).
//
// ANTHROPIC-EVENTS-1. What cannot be read spoils the attempt, and so does a message that begins
//     anew after its blocks did. A payload that cannot even be the beginning of an event has lost
//     nothing of one: it is passed over.
// E1 to E3 and E5 are kept in anthropic-blocks.ts.

import { limits } from '../../../../shared/contract/limits.ts'
import type { PartEvent, Stop, Usage } from '../../../../shared/contract/messages.ts'
import { isObject } from '../../../../shared/lib/json/json-object.ts'
import { payloadOf } from '../../wire/event-payload.ts'
import type { ExactValues } from '../../wire/exact-json.ts'
import { newIndex, partEvent } from '../../wire/part-events.ts'
import { errorIn } from '../../wire/sent-errors.ts'
import { finishWord, meaningOf } from '../finish-words.ts'
import type { Failed } from '../provider.ts'
import { brokenStream, reportedError } from '../provider-errors.ts'
import { providerSaid } from '../provider-said.ts'
import { shortReason } from '../reason.ts'
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

/** One response while it streams; `readEvent` changes it in place. */
export type MessageStream = Blocks & {
  /** Must not come back in what a server says about an error. */
  secret: string
  /** The newest provider's index, for servers that leave it out. */
  newest: number
  /** Blocks that stood in message_start and that the stream has not announced itself, by index. */
  announced: Map<number, SentBlock>
  id: string | undefined
  /** message_start came again after blocks had begun. */
  begunAnew: boolean
  usage: Usage
  /**
   * The provider's own word for why it stopped; empty while none came. One that says that something
   * was cut stays, whatever comes after it.
   */
  finish: string
  /**
   * What message_start said of it already: it counts when message_stop says that this came to pass.
   */
  foretold: unknown
  /** As the server sent it. */
  rawUsage: Record<string, unknown> | undefined
  /** message_stop came. */
  over: boolean
  /**
   * A payload was passed over (ANTHROPIC-EVENTS-1): then the end of the message without a reason
   * for it is none.
   */
  hasUnread: boolean
  /** The last events are out. */
  ended: boolean
  /** Why this attempt is no answer, whatever else comes; undefined: it still may be one. */
  fault: Failed | undefined
}

export function newMessageStream(secret: string): MessageStream {
  return {
    secret,
    blocks: new Map(),
    newest: -1,
    count: 0,
    announced: new Map(),
    id: undefined,
    begunAnew: false,
    usage: { inputTokens: 0, outputTokens: 0, cacheReadTokens: 0, cacheWriteTokens: 0 },
    finish: '',
    foretold: undefined,
    rawUsage: undefined,
    over: false,
    hasUnread: false,
    ended: false,
    fault: undefined,
  }
}

/**
 * What one server-sent event means. `name` is its `event:` line, which counts only where the data
 * has no type of its own.
 */
export function readEvent(stream: MessageStream, name: string | null, data: string): PartEvent[] {
  const sent = payloadOf(name, data)
  if (sent.kind === 'unread') stream.hasUnread = true
  if (sent.kind === 'error') return spoil(stream, streamError({ message: sent.said }))
  if (sent.kind === 'broken')
    return spoil(stream, brokenStream('an event of the stream is no JSON object'))
  if (sent.kind !== 'object') return []
  const { value: event, exact } = sent

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
      // Some servers put the reason beside `delta` instead of into it.
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
    default: // ping, and whatever will be added to the protocol; or an error, in whatever shape
      return readOther(stream, name, event)
  }
}

function readOther(
  stream: MessageStream,
  name: string | null,
  event: Record<string, unknown>,
): PartEvent[] {
  const error = errorIn(event.type === undefined ? event : { choices: [], ...event }, name)
  return error === undefined ? [] : spoil(stream, streamError(error))
}

/** What is left to say when no more bytes come; the last events of the response. */
export function endMessage(stream: MessageStream): PartEvent[] {
  if (stream.ended) return []
  stream.ended = true
  const events: PartEvent[] = []
  for (const [index, sent] of stream.announced)
    events.push(
      ...orSpoiled(stream, beginBlock(stream, index, sent, 'call_whole')),
      ...blockStop(stream, index),
    )
  stream.announced.clear()
  return [...events, ...providerSaid(newIndex(stream), { id: stream.id, usage: stream.rawUsage })]
}

/** The provider's word in our vocabulary. */
export function stopOf({
  finish,
  over,
  hasUnread,
}: Pick<MessageStream, 'finish' | 'over' | 'hasUnread'>): Stop {
  if (finish === '') return over && !hasUnread ? 'other' : 'cut'
  const meaning = meaningOf(finish)
  return meaning === undefined || meaning === 'failed' ? 'other' : meaning
}

function messageStart(
  stream: MessageStream,
  event: Record<string, unknown>,
  exact: ExactValues,
): PartEvent[] {
  const message = isObject(event.message) ? event.message : {}
  const id = typeof message.id === 'string' ? message.id : undefined
  // A retrying proxy sends it twice. The same one again is harmless until blocks begin anew too,
  // another one is another response.
  if (stream.count > 0) {
    if (id !== stream.id)
      return spoil(stream, brokenStream('another response began in the middle of this one'))
    stream.begunAnew = true
    return []
  }
  stream.id = id
  addUsage(stream, message.usage)
  stream.foretold = message.stop_reason
  // One more than a response may have is enough to say so.
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

/** Ends the attempt and lets those who read along see why. */
function spoil(stream: MessageStream, fault: Failed): PartEvent[] {
  const reason = shortReason(fault.reason, stream.secret)
  stream.fault ??= { ...fault, reason }
  return [partEvent('error', newIndex(stream), reason)]
}

const refusals = new Set([
  'invalid_request_error',
  'authentication_error',
  'billing_error',
  'permission_error',
  'not_found_error',
  'request_too_large',
])

function streamError(error: Record<string, unknown>): Failed {
  const type = typeof error.type === 'string' ? error.type : 'error'
  return reportedError({ type, words: [type], message: error.message, refused: refusals.has(type) })
}

/** More is nothing that a server says about tokens. */
const usageFieldsMax = 64

/** Counts are cumulative: the newest one of each counts. */
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

/** Some servers write it as a text. */
function indexOf({ index }: Record<string, unknown>, absent: number): number {
  const given = typeof index === 'string' && /^\d{1,9}$/.test(index) ? Number(index) : index
  return typeof given === 'number' ? given : absent
}
