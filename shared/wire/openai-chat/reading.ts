// Reads an answer of Chat Completions, streamed or whole. Loads no SDK: the gateway and the proxy read
// answers in the same way.

import { answeredEvents } from '../event-stream.ts'
import type { Failed, Finished } from '../exchange.ts'
import { interruptionOf } from '../faults/provider-errors.ts'
import type { AnswerReader, ReaderOptions } from '../format.ts'
import { stopAtLimit } from '../output-limit.ts'
import { type ChatStream, endChat, newChatStream, readChunk, stopOf } from './events.ts'

export function chatReader({ secret, model = '', outputTokensMax }: ReaderOptions): AnswerReader {
  const stream = newChatStream({ secret, model })
  return {
    sent: (response, onBytes) =>
      answeredEvents(response, onBytes, (_, data) => [{ event: null, data }]),
    read: (event, data) => readChunk(stream, event, data),
    isDone: () => stream.over || stream.fault !== undefined,
    end: () => endChat(stream),
    ending: (interruption) => endingOf(stream, interruption, outputTokensMax),
  }
}

/**
 * A finished answer stays finished if the connection then breaks. Without a finish reason it is
 * cut.
 */
function endingOf(
  chat: ChatStream,
  interruption: unknown,
  outputTokensMax: number | undefined,
): Finished | Failed {
  const { fault, finish, over, usage } = chat
  if (fault !== undefined) return fault
  if (interruption !== undefined && finish === '' && !over) return interruptionOf(interruption)
  return {
    kind: 'finished',
    stop: stopAtLimit(stopOf(chat), usage, outputTokensMax),
    finish,
    usage,
  }
}
