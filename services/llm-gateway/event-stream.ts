// The server-sent events of a provider's response, before anybody parses them: so text arrives exactly as it was sent.
// The reader of Anthropic's SDK is used for every provider: it takes any event stream, while those of other SDKs hand out parsed JSON only, and
// cannot tell a stream that ended from one that was cut.

import type { ReadableStream } from 'node:stream/web'
import { TransformStream } from 'node:stream/web'
import { Stream } from '@anthropic-ai/sdk/streaming'
import { WeirError } from '../../shared/errors.ts'
import { limits } from '../../shared/limits.ts'

/** `event`: its `event:` line, null where it has none. */
export type SentEvent = { event: string | null; data: string }

/** The events in order. `heard` is called for each piece of the body, whatever it holds. Throws what the connection throws. */
export async function* sentEvents(response: Response, heard: () => void): AsyncGenerator<SentEvent, void> {
  const body = boundedBody(response, heard)
  for await (const { event, data } of Stream.rawEvents(new Response(body.bytes))) {
    body.eventCompleted()
    yield { event, data }
  }
}

/** A body that is no stream of events, as text; bounded and heard alike. */
export async function wholeBody(response: Response, heard: () => void): Promise<string> {
  return (await new Response(boundedBody(response, heard).bytes).text()).trimEnd()
}

/** The body's bytes, each piece of them heard, and bounded where a reader would gather a line without an end (R7). */
function boundedBody(response: Response, heard: () => void): { bytes: ReadableStream | null; eventCompleted: () => void } {
  let sinceEvent = 0
  const observed = new TransformStream<Uint8Array, Uint8Array>({
    transform(piece, controller) {
      heard()
      sinceEvent += piece.byteLength
      if (sinceEvent > limits.streamEventBytesMax) {
        const reason = `${sinceEvent} bytes of the stream without a complete event; at most ${limits.streamEventBytesMax}`
        controller.error(new WeirError('provider.stream', reason))
      } else controller.enqueue(piece)
    },
    // The last event counts also where the server left out the blank line after it; one that is half there is no JSON.
    flush: (controller) => controller.enqueue(new TextEncoder().encode('\n\n')),
  })
  return {
    bytes: (response.body as ReadableStream<Uint8Array> | null)?.pipeThrough(observed) ?? null,
    eventCompleted: () => {
      sinceEvent = 0
    },
  }
}
