// Reads an answer of Responses, streamed or whole. Loads no SDK: the gateway and the proxy read answers
// in the same way.

import { isObject } from '../../lib/json/json-object.ts'
import { answeredEvents, type SentEvent } from '../event-stream.ts'
import type { Failed, Finished } from '../exchange.ts'
import { interruptionOf } from '../faults/provider-errors.ts'
import type { AnswerReader, ReaderOptions } from '../format.ts'
import { stopAtLimit } from '../output-limit.ts'
import { endResponse, readResponseEvent, stopOf } from './events.ts'
import { newResponseStream, type ResponseStream } from './stream.ts'

export function responseReader({
  secret,
  model = '',
  outputTokensMax,
}: ReaderOptions): AnswerReader {
  const stream = newResponseStream({ secret, model })
  return {
    sent: (response, onBytes) => answeredEvents(response, onBytes, wholeEvents),
    read: (event, data) => readResponseEvent(stream, event, data),
    isDone: () => stream.over || stream.fault !== undefined,
    end: () => endResponse(stream),
    ending: (interruption) => endingOf(stream, interruption, outputTokensMax),
  }
}

/** The body of a server that does not stream: a whole response or an error. */
function wholeEvents(whole: unknown, body: string): SentEvent[] {
  const isResponse = isObject(whole) && whole.object === 'response'
  return [{ event: null, data: isResponse ? `{"type":"response.done","response":${body}}` : body }]
}

/**
 * A finished answer stays finished if the connection then breaks. Without a finish reason it is
 * cut.
 */
function endingOf(
  stream: ResponseStream,
  interruption: unknown,
  outputTokensAsked: number | undefined,
): Finished | Failed {
  const { fault, finish, over, usage, outputTokensMax } = stream
  if (fault !== undefined) return fault
  if (interruption !== undefined && !over) return interruptionOf(interruption)
  return {
    kind: 'finished',
    stop: stopAtLimit(stopOf(stream), usage, outputTokensMax ?? outputTokensAsked),
    finish,
    usage,
  }
}
