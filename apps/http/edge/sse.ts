// A stream of server-sent events. The pace of the client is the pace of the source: a piece is read
// when the one before it is with the client. Events that are ready together are one piece, because
// each write costs more than its events.
// SSE-1. A stream holds at most one piece of `limits.edgePieceCharsMax`, and one event. A slow client
//     makes the source wait, not the memory grow.

import { limits } from '../../../shared/contract/limits.ts'
import type { EdgeContext } from './edge-context.ts'

/** `data`: one line. A name or an id has no line break. */
export type ServerSentEvent = { id?: string; event?: string; data: string }

export type SseOptions = {
  headers?: Record<string, string>
  /** The text in front of the first event, such as `retry: 2000`. */
  preamble?: string
  /** Called once if the stream ends before its events: the client leaves, or the server closes. */
  onLeave?: () => void
}

/**
 * Ends with the events, with an error of their source, or when the server closes. A protocol with an
 * event for errors yields it itself. The source must end soon after `onLeave`.
 */
export function sseResponse(
  { clock, closing, log }: Pick<EdgeContext, 'clock' | 'closing' | 'log'>,
  events: AsyncIterable<ServerSentEvent>,
  { headers = {}, preamble = ': open', onLeave }: SseOptions = {},
): Response {
  const iterator = events[Symbol.asyncIterator]()
  const utf8 = new TextEncoder()
  let next: Next | undefined
  let isOver = false
  let stopPing = (): void => {}
  let close = (): void => {}

  function end(isEarly: boolean): void {
    if (isOver) return
    isOver = true
    stopPing()
    closing.removeEventListener('abort', close)
    if (!isEarly) return
    onLeave?.()
    iterator.return?.().catch(() => {}) // it waits for the event that is being read
  }

  function read(): Next {
    const reading: Next = { result: undefined, arrival: Promise.resolve() }
    reading.arrival = iterator.next().then(
      (result) => {
        reading.result = result
      },
      (error: unknown) => {
        if (!isOver) log.warn({ err: error }, 'a stream of the HTTP edge ended early')
        reading.result = { done: true, value: undefined }
      },
    )
    return reading
  }

  /** The event, if it is ready. */
  async function ready(reading: Next): Promise<Next['result']> {
    for (let hop = 0; hop < hopsMax && reading.result === undefined; hop += 1) await undefined
    return reading.result
  }

  const body = new ReadableStream<Uint8Array>(
    {
      start(controller) {
        const ping = (): void => {
          if ((controller.desiredSize ?? 0) > 0) controller.enqueue(utf8.encode(': ping\n\n'))
          stopPing = clock.after(limits.edgePingMs, ping)
        }
        close = () => {
          end(true)
          controller.close()
        }
        controller.enqueue(utf8.encode(`${preamble}\n\n`))
        stopPing = clock.after(limits.edgePingMs, ping)
        closing.addEventListener('abort', close, { once: true })
      },
      async pull(controller) {
        next ??= read()
        await next.arrival
        let piece = ''
        let { result } = next
        while (result !== undefined && !result.done && piece.length < limits.edgePieceCharsMax) {
          piece += textOf(result.value)
          next = read()
          result = await ready(next)
        }
        if (isOver) return
        if (piece !== '') controller.enqueue(utf8.encode(piece))
        if (result?.done !== true) return
        end(false)
        controller.close()
      },
      cancel: () => end(true),
    },
    { highWaterMark: 1 },
  )
  return new Response(body, {
    headers: {
      'content-type': 'text/event-stream; charset=utf-8',
      'cache-control': 'no-store',
      'x-accel-buffering': 'no',
      ...headers,
    },
  })
}

/** An event that is being read. `arrival` never rejects. */
type Next = { result: IteratorResult<ServerSentEvent> | undefined; arrival: Promise<void> }

/** An event that is ready passes the generators of a protocol within fewer microtasks. */
const hopsMax = 32

function textOf({ id, event, data }: ServerSentEvent): string {
  const fields = { id, event, data }
  const lines = Object.entries(fields).filter(([, value]) => value !== undefined)
  return `${lines.map(([name, value]) => `${name}: ${value}\n`).join('')}\n`
}
