// The one answer that a client gets for all attempts of its request.
// An answer that has begun ends as the API says, also with an error: a client never
// takes a broken answer for a whole one.
// While a stream waits, the client gets events without content, so it does not give
// the connection up.
// A printed answer has the content type of its print. In the charset of an upstream a
// client could read another answer in the same bytes.

import { once } from 'node:events'
import type { ServerResponse } from 'node:http'
import type { Milliseconds } from '../../../../../shared/lib/clock.ts'
import type { Json } from '../../../../../shared/wire/format.ts'
import type { VetoedFormat } from '../../../../../shared/wire/proxied.ts'
import type { ClientStream, EventData } from '../../../../../shared/wire/strict/strict.ts'
import { HttpError } from '../../../http-error.ts'

export type ClientAnswer = {
  readonly stream: ClientStream
  /** The client has got a part of a stream. */
  readonly hasBegun: boolean
  /** Begins a stream. `headers`: raw names and values. Without effect if it has begun. */
  begin(headers: readonly string[]): void
  /** Writes events that are printed from values. */
  write(events: readonly EventData[]): Promise<void>
  /** Ends a stream. */
  end(attempts: number): void
  /** Sends a whole answer. */
  whole(status: number, headers: readonly string[], body: Json): void
  /** Ends the answer with this error: as a status, or as the last event of a stream. */
  fail(error: HttpError, attempts: number): void
  /** Stops all timers. */
  close(): void
}

export function clientAnswer(
  outgoing: ServerResponse,
  api: Pick<VetoedFormat, 'stream' | 'strict'>,
  { pingMs }: { pingMs: Milliseconds },
): ClientAnswer {
  const stream = api.strict.client()
  const { framing } = api.stream
  let pinging: NodeJS.Timeout | undefined
  let hasBegun = false
  let isFull = false

  async function send(bytes: string | Uint8Array): Promise<void> {
    if (outgoing.destroyed) throw new HttpError(502, 'proxy.client', 'the client has left')
    if (outgoing.write(bytes)) return
    isFull = true
    const over = new AbortController()
    const { signal } = over
    await Promise.race([once(outgoing, 'drain', { signal }), once(outgoing, 'close', { signal })])
    over.abort() // removes the listeners of the other one
    isFull = false
  }

  const close = () => clearInterval(pinging)

  function end(attempts: number): void {
    close()
    outgoing.addTrailers({ [attemptsHeader]: `${attempts}` })
    outgoing.end()
  }

  return {
    stream,
    get hasBegun() {
      return hasBegun
    },
    begin(headers) {
      if (hasBegun) return
      hasBegun = true
      const list = typed(headers, framing.type)
      outgoing.writeHead(200, [...list, 'trailer', attemptsHeader])
      outgoing.flushHeaders()
      pinging = setInterval(() => {
        if (!isFull) outgoing.write(api.strict.ping)
      }, pingMs)
      outgoing.once('close', close)
    },
    async write(events) {
      if (events.length > 0) await send(framing.print(events))
    },
    end,
    whole(status, headers, body) {
      const list = typed(headers, 'application/json; charset=utf-8')
      const bytes = Buffer.from(JSON.stringify(body))
      outgoing.writeHead(status, [...list, 'content-length', `${bytes.length}`])
      outgoing.end(bytes)
    },
    fail(error, attempts) {
      if (!hasBegun) throw error
      outgoing.write(framing.print([stream.failed(error.code, error.message)]))
      end(attempts)
    },
    close,
  }
}

export const attemptsHeader = 'x-weir-attempts'

function typed(raw: readonly string[], type: string): string[] {
  const others = raw.filter((_, at) => raw[at - (at % 2)]?.toLowerCase() !== 'content-type')
  return [...others, 'content-type', type]
}
