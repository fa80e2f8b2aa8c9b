// One request and its streamed answer, the same for every provider: send, read events to the end,
// finish. Owns: exactly one ending, and nothing is read after it. Does not own: the request, the
// meaning of events and errors.

import type { PartEvent } from '../contract/messages.ts'
import type { SentEvent } from './event-stream.ts'
import type { Failed, Finished, Streamed } from './exchange.ts'

/**
 * How a provider's answer is read. `stream`: the state that the reader keeps. `over`: the provider
 * ended the answer. `fault`: the answer has failed.
 */
export type Reading<Stream extends { over: boolean; fault: Failed | undefined }> = {
  stream: Stream
  sent(response: Response, onBytes: () => void): AsyncIterable<SentEvent[]>
  read(stream: Stream, event: string | null, data: string): PartEvent[]
  /** The last events, after the end of the stream or an `interruption` (undefined: none). */
  end(stream: Stream, interruption: unknown): PartEvent[]
  ending(stream: Stream, interruption: unknown): Finished | Failed
}

export type Answering<Stream extends { over: boolean; fault: Failed | undefined }> = {
  reading: Reading<Stream>
  /** Resolves with the beginning of the answer. Rejects like the SDK. */
  send(): Promise<Response>
  /** Classifies the rejection of `send`. */
  refused(error: unknown): Failed
}

/** Implements Provider's `stream`. Calls `onBytes` when the answer begins. */
export async function* streamedAnswer<Stream extends { over: boolean; fault: Failed | undefined }>(
  { reading: { stream, sent, read, end, ending }, send, refused }: Answering<Stream>,
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

  const isDone = () => stream.over || stream.fault !== undefined
  let interruption: unknown
  try {
    for await (const batch of sent(response, onBytes)) {
      const events: PartEvent[] = []
      for (const { event, data } of batch) {
        if (isDone()) break
        events.push(...read(stream, event, data))
      }
      if (events.length > 0) yield { kind: 'events', events }
      if (isDone()) break
    }
  } catch (error) {
    interruption = error
  }
  const events = end(stream, interruption)
  if (events.length > 0) yield { kind: 'events', events }
  yield ending(stream, interruption)
}

/** Reads an answer that has arrived. */
export function receivedAnswer<Stream extends { over: boolean; fault: Failed | undefined }>(
  reading: Reading<Stream>,
  response: Response,
): AsyncGenerator<Streamed, void> {
  const refused = (error: unknown): Failed => {
    throw error // `send` cannot fail
  }
  return streamedAnswer({ reading, send: async () => response, refused }, () => {})
}
