// Reads an answer of Chat Completions, streamed or whole. Loads no SDK: the gateway and the proxy read
// answers in the same way.

import { answeredEvents } from '../event-stream.ts'
import type { Failed, Finished } from '../exchange.ts'
import { interruptionOf } from '../faults/provider-errors.ts'
import type { Secret } from '../faults/short-reason.ts'
import { stopAtLimit } from '../output-limit.ts'
import type { Reading } from '../streamed-answer.ts'
import { type ChatStream, endChat, newChatStream, readChunk, stopOf } from './events.ts'

/** `outputTokensMax`: of the request; undefined: unknown. */
export function chatReading({
  secret,
  model,
  outputTokensMax,
}: {
  secret: Secret
  model: string
  outputTokensMax?: number
}): Reading<ChatStream> {
  return {
    stream: newChatStream({ secret, model }),
    sent: (response, onBytes) =>
      answeredEvents(response, onBytes, (_, data) => [{ event: null, data }]),
    read: readChunk,
    end: endChat,
    ending: (stream, interruption) => endingOf(stream, interruption, outputTokensMax),
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
