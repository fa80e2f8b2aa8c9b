// The one answer that a client gets for all attempts of its request.
// CLIENT-ANSWER-1. An answer that has begun ends as the API says, also with an error: a client never
//     takes a broken answer for a whole one.
// CLIENT-ANSWER-2. While a stream waits, the client gets events without content, so it does not give
//     the connection up.

import { once } from 'node:events'
import type { ServerResponse } from 'node:http'
import type { Milliseconds } from '../../../../../shared/lib/clock.ts'
import { HttpError } from '../../../http-error.ts'
import { type EventBlock, eventOf } from './event-blocks.ts'
import type { ClientStream, VetoForm } from './forms/veto-form.ts'

export type ClientAnswer = {
  readonly stream: ClientStream
  /** The client has got a part of a stream. */
  readonly hasBegun: boolean
  /** Begins a stream. `headers`: raw names and values. Without effect if it has begun. */
  begin(headers: readonly string[]): void
  /** Passes an event on: its own bytes if nothing in it changes. */
  pass(block: EventBlock): Promise<void>
  /** Writes events of Weir. */
  write(texts: readonly string[]): Promise<void>
  /** Ends a stream. */
  end(attempts: number): void
  /** Sends a whole answer. */
  whole(status: number, headers: readonly string[], body: Buffer): void
  /** Ends the answer with this error: as a status, or as the last event of a stream. */
  fail(error: HttpError, attempts: number): void
  /** Stops all timers. */
  close(): void
}

export function clientAnswer(
  outgoing: ServerResponse,
  form: VetoForm,
  { model, pingMs }: { model: string; pingMs: Milliseconds },
): ClientAnswer {
  const stream = form.clientStream(model)
  let pinging: NodeJS.Timeout | undefined
  let hasBegun = false
  let isFull = false

  async function send(bytes: Buffer): Promise<void> {
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
      outgoing.writeHead(200, [...without('content-length', headers), 'trailer', attemptsHeader])
      outgoing.flushHeaders()
      pinging = setInterval(() => {
        if (!isFull) outgoing.write(form.ping)
      }, pingMs)
      outgoing.once('close', close)
    },
    async pass({ bytes, text, data, isComment }) {
      if (isComment) return send(bytes)
      const texts = stream.shown(text, data)
      if (texts.length === 1 && texts[0] === text) return send(bytes)
      for (const one of texts) await send(eventOf(one, form.isNamed))
    },
    async write(texts) {
      for (const text of texts) await send(eventOf(text, form.isNamed))
    },
    end,
    whole(status, headers, body) {
      outgoing.writeHead(status, [
        ...without('content-length', headers),
        ...['content-length', `${body.length}`],
      ])
      outgoing.end(body)
    },
    fail(error, attempts) {
      if (!hasBegun) throw error
      outgoing.write(eventOf(stream.failed(error.code, error.message), form.isNamed))
      end(attempts)
    },
    close,
  }
}

export const attemptsHeader = 'x-weir-attempts'

function without(name: string, raw: readonly string[]): string[] {
  return raw.filter((_, at) => raw[at - (at % 2)]?.toLowerCase() !== name)
}
