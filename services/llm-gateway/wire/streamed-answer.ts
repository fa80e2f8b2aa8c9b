// One request and its streamed answer, alike for every provider: ask, read event by event until it
// is over, end. Owns: that there is exactly one ending, and that nothing is read behind it. Does
// not own: what is asked, what an event means, what an error means.

import type { PartEvent } from '../../../shared/contract/messages.ts'
import type { Failed, Finished, Streamed } from '../providers/provider.ts'
import type { SentEvent } from './event-stream.ts'

/**
 * `stream`: what a provider's file knows of the answer so far. `over`: the provider said that it
 * is; `fault`: it cannot be one any more.
 */
export type Answering<Stream extends { over: boolean; fault: Failed | undefined }> = {
  stream: Stream
  /** Resolves with the beginning of the answer; rejects as the SDK does. */
  ask(): Promise<Response>
  /** Why there is no answer. */
  refused(error: unknown): Failed
  sent(response: Response): AsyncIterable<SentEvent[]>
  read(stream: Stream, event: string | null, data: string): PartEvent[]
  /**
   * What is left to say at the end, whether the provider or an `interruption` (undefined: none)
   * brought it.
   */
  end(stream: Stream, interruption: unknown): PartEvent[]
  ending(stream: Stream, interruption: unknown): Finished | Failed
}

/** As Provider's `stream`. `heard`: called when the answer begins. */
export async function* streamedAnswer<Stream extends { over: boolean; fault: Failed | undefined }>(
  { stream, ask, refused, sent, read, end, ending }: Answering<Stream>,
  heard: () => void,
): AsyncGenerator<Streamed, void> {
  let response: Response
  try {
    response = await ask()
  } catch (error) {
    yield refused(error)
    return
  }
  heard()

  const isDone = () => stream.over || stream.fault !== undefined
  let interruption: unknown
  try {
    for await (const batch of sent(response)) {
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
