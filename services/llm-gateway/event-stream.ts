// The server-sent events of a provider's response, before anybody parses them: so text arrives exactly as it was sent.
// The reader of Anthropic's SDK is used for every provider: it takes any event stream, while those of other SDKs hand out parsed JSON only, and
// cannot tell a stream that ended from one that was cut.

import { Stream } from '@anthropic-ai/sdk/streaming'
import { WeirError } from '../../shared/errors.ts'
import { limits } from '../../shared/limits.ts'

/** `event`: its `event:` line, null where it has none. */
export type SentEvent = { event: string | null; data: string }

/** The events in order. `heard` is called for each piece of the body, whatever it holds. Throws what the connection throws. */
export async function* sentEvents(response: Response, heard: () => void): AsyncGenerator<SentEvent, void> {
  const body = boundedBody(response, heard)
  // Of a response the reader looks at the body only, and takes whatever can be iterated: a stream around the stream would cost more than all the
  // rest of reading.
  for await (const { event, data } of Stream.rawEvents({ body: body.bytes } as unknown as Response)) {
    body.eventCompleted()
    // Some proxies put the field's name before a payload that has it already.
    yield { event, data: data.replace(/^data:\s?/, '') }
  }
}

/** A body that is no stream of events, as text; bounded and heard alike. */
export async function wholeBody(response: Response, heard: () => void): Promise<string> {
  const pieces: Uint8Array[] = []
  for await (const piece of boundedBody(response, heard).bytes) pieces.push(piece)
  return new TextDecoder().decode(Buffer.concat(pieces)).trimEnd()
}

/** The body's bytes, each piece of them heard, and bounded where a reader would gather a line without an end (R7). */
function boundedBody(response: Response, heard: () => void): { bytes: AsyncIterable<Uint8Array>; eventCompleted: () => void } {
  let sinceEvent = 0
  return {
    bytes: pieces(),
    eventCompleted: () => {
      sinceEvent = 0
    },
  }

  async function* pieces(): AsyncGenerator<Uint8Array, void> {
    for await (const piece of response.body ?? []) {
      heard()
      sinceEvent += piece.byteLength
      if (sinceEvent > limits.streamEventBytesMax) {
        const reason = `${sinceEvent} bytes of the stream without a complete event; at most ${limits.streamEventBytesMax}`
        throw new WeirError('provider.stream', reason)
      }
      yield piece
    }
    // The last event counts also where the server left out the blank line after it; one that is half there is no JSON.
    yield new TextEncoder().encode('\n\n')
  }
}
