// One request and its streamed answer, the same for every provider: send, read events to the end,
// finish. Owns: exactly one ending, and nothing is read after it. Does not own: the request, the
// meaning of events and errors.

import type { PartEvent } from '../contract/messages.ts'
import type { Failed, Streamed } from './exchange.ts'
import { exhaustedMs } from './faults/retry-hint.ts'
import type { AnswerReader } from './format.ts'

export type Answering = {
  reader: AnswerReader
  /** Resolves with the beginning of the answer. Rejects if none came. */
  send(): Promise<Response>
  /** Classifies the rejection of `send`. */
  refused(error: unknown): Failed
}

/** Implements Provider's `stream`. Calls `onBytes` when the answer begins. */
export async function* streamedAnswer(
  { reader: { sent, read, isDone, end, ending }, send, refused }: Answering,
  onBytes: () => void,
): AsyncGenerator<Streamed, void> {
  let response: Response
  try {
    response = await send()
  } catch (error) {
    yield refused(error)
    return
  }
  onBytes()

  let interruption: unknown
  try {
    for await (const batch of sent(response, onBytes)) {
      const events: PartEvent[] = []
      for (const { event, data } of batch) {
        if (isDone()) break
        events.push(...read(event, data))
      }
      if (events.length > 0) yield { kind: 'events', events }
      if (isDone()) break
    }
  } catch (error) {
    interruption = error
  }
  const events = end(interruption)
  if (events.length > 0) yield { kind: 'events', events }
  const last = ending(interruption)
  const waitMs = exhaustedMs(response.headers)
  yield last.kind === 'failed' || waitMs === 0 ? last : { ...last, exhaustedMs: waitMs }
}

/** Reads an answer that has arrived. */
export function receivedAnswer(
  reader: AnswerReader,
  response: Response,
): AsyncGenerator<Streamed, void> {
  const refused = (error: unknown): Failed => {
    throw error // `send` cannot fail
  }
  return streamedAnswer({ reader, send: async () => response, refused }, () => {})
}
