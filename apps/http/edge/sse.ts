// A stream of server-sent events. The pace of the client is the pace of the source: a piece is read
// when the one before it is with the client. Events that are ready together are one piece, because
// each write costs more than its events.
// Without Response and ReadableStream of the web, which cost more than all the rest.
// A stream holds at most one piece of `edgePieceCharsMax`, and the events of one item. A
// slow client makes the source wait, not the memory grow.

import { alreadySent, type Outgoing } from '../direct-answer.ts'
import type { EdgeContext } from './edge-context.ts'
import { httpErrorOf } from './edge-errors.ts'

/** How often an open stream of the edge gets a comment. */
const edgePingMs = 15_000
/** Characters of the events that a stream of the edge sends as one piece. */
export const edgePieceCharsMax = 16 * 1024

/** `data`: one line. A name or an id has no line break. */
export type ServerSentEvent = { id?: string; event?: string; data: string }

export type SseOptions<Item> = {
  items: AsyncIterable<Item>
  eventsOf(item: Item): readonly ServerSentEvent[]
  headers?: Record<string, string>
  /** The text in front of the first event, such as `retry: 2000`. */
  preamble?: string
  /** The events in front of those of the first item. */
  begin?: readonly ServerSentEvent[]
  /** The events for an error of the source. Without them, the stream just ends. */
  failed?(error: unknown): readonly ServerSentEvent[]
  /** The events after those of the last item, and after an error. */
  end?: readonly ServerSentEvent[]
  /** Called once if the stream ends before its items: the client leaves, or the server closes. */
  onLeave?: () => void
}

/**
 * Ends with the items, with an error of their source, or when the server closes. The source must end
 * soon after `onLeave`.
 */
export function sseResponse<Item>(
  { clock, closing, log }: Pick<EdgeContext, 'clock' | 'closing' | 'log'>,
  outgoing: Outgoing,
  {
    items,
    eventsOf,
    headers = {},
    preamble = ': open',
    begin = [],
    failed = () => [],
    end = [],
    onLeave,
  }: SseOptions<Item>,
): Response {
  const iterator = items[Symbol.asyncIterator]()
  let isOver = false
  let stopPing = (): void => {}
  let resume = (): void => {}

  function finish(): void {
    isOver = true
    stopPing()
    closing.removeEventListener('abort', stop)
    outgoing.off('close', leave).off('drain', onDrain)
  }

  function leave(): void {
    if (isOver) return
    finish()
    resume()
    onLeave?.()
    iterator.return?.().catch(() => {}) // it waits for the item that is being read
  }

  function stop(): void {
    leave()
    outgoing.end()
  }

  function onDrain(): void {
    resume()
  }

  function ping(): void {
    if (!outgoing.writableNeedDrain) outgoing.write(': ping\n\n')
    stopPing = clock.after(edgePingMs, ping)
  }

  function read(): Next {
    const reading: Next = { piece: undefined, arrival: Promise.resolve() }
    reading.arrival = iterator
      .next()
      .then((result) => {
        reading.piece = result.done
          ? { text: textOf(end), isLast: true }
          : { text: textOf(eventsOf(result.value)), isLast: false }
      })
      .catch((error: unknown) => {
        if (!isOver && httpErrorOf(error).status >= 500)
          log.error({ err: error }, 'a stream of the HTTP edge broke')
        reading.piece = { text: textOf([...failed(error), ...end]), isLast: true }
      })
    return reading
  }

  /** The events, if they are ready. */
  async function ready(reading: Next): Promise<Next['piece']> {
    for (let hop = 0; hop < hopsMax && reading.piece === undefined; hop += 1) await undefined
    return reading.piece
  }

  async function send(): Promise<void> {
    let next = read()
    while (!isOver) {
      await next.arrival
      let text = ''
      let { piece } = next
      while (piece !== undefined && !piece.isLast && text.length < edgePieceCharsMax) {
        text += piece.text
        next = read()
        piece = await ready(next)
      }
      if (isOver) return
      if (piece?.isLast === true) {
        finish()
        outgoing.end(text + piece.text)
      } else if (text !== '' && !outgoing.write(text))
        await new Promise<void>((resolve) => {
          resume = resolve
        })
    }
  }

  outgoing.writeHead(200, {
    'content-type': 'text/event-stream; charset=utf-8',
    'cache-control': 'no-store',
    'x-accel-buffering': 'no',
    ...headers,
  })
  outgoing.write(`${preamble}\n\n${textOf(begin)}`)
  stopPing = clock.after(edgePingMs, ping)
  closing.addEventListener('abort', stop, { once: true })
  outgoing.on('close', leave).on('drain', onDrain)
  if (outgoing.destroyed) leave()
  // Headers only. A server that closes has sent its event already, and no listener would get it.
  if (outgoing.req.method === 'HEAD' || closing.aborted) stop()
  void send()
  return alreadySent
}

/** An item that is being read. `arrival` never rejects. */
type Next = { piece: { text: string; isLast: boolean } | undefined; arrival: Promise<void> }

/** An item that is ready passes the generators of a protocol within fewer microtasks. */
const hopsMax = 32

function textOf(events: readonly ServerSentEvent[]): string {
  let text = ''
  for (const { id, event, data } of events) {
    if (id !== undefined) text += `id: ${id}\n`
    if (event !== undefined) text += `event: ${event}\n`
    text += `data: ${data}\n\n`
  }
  return text
}
