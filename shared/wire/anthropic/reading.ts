// Reads an answer of Anthropic's Messages, streamed or whole. Loads no SDK: the gateway and the proxy
// read answers in the same way.

import { isObject } from '../../lib/json/json-object.ts'
import { finishWord } from '../../transcript/finish-reasons.ts'
import { answeredEvents, type SentEvent } from '../event-stream.ts'
import type { Failed, Finished } from '../exchange.ts'
import { interruptionOf } from '../faults/provider-errors.ts'
import type { AnswerReader, ReaderOptions } from '../format.ts'
import { stopAtLimit } from '../output-limit.ts'
import { endMessage, type MessageStream, newMessageStream, readEvent, stopOf } from './events.ts'

export function messageReader({ secret, outputTokensMax }: ReaderOptions): AnswerReader {
  const stream = newMessageStream(secret)
  return {
    sent: (response, onBytes) => answeredEvents(response, onBytes, wholeEvents),
    read: (event, data) => readEvent(stream, event, data),
    isDone: () => stream.over || stream.fault !== undefined,
    end: (interruption) => (interruption === undefined ? endMessage(stream) : []),
    ending: (interruption) => endingOf(stream, interruption, outputTokensMax),
  }
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

/**
 * A finished answer stays finished if the connection then breaks. Without a finish reason it is
 * cut.
 */
function endingOf(
  message: MessageStream,
  interruption: unknown,
  outputTokensMax: number | undefined,
): Finished | Failed {
  const { fault, finish, over, usage } = message
  if (fault !== undefined) return fault
  if (interruption !== undefined && finish === '' && !over) return interruptionOf(interruption)
  return {
    kind: 'finished',
    stop: stopAtLimit(stopOf(message), usage, outputTokensMax),
    finish,
    usage,
  }
}
