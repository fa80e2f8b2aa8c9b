// Answers a request of the web with an app whose routes read Node's request and write to Node's
// response. Both are made here.
// The reader of the answer sets the pace, as a socket does: `write` returns false while
// the buffer is full, and `drain` follows.
// A client that leaves, by the signal of its request or by cancelling the answer, closes
// the response before it is finished.

import type { ServerResponse } from 'node:http'
import { PassThrough, Readable } from 'node:stream'
import type { HttpBindings } from '@hono/node-server'
import type { Outgoing } from '../direct-answer.ts'
import type { HttpApp } from '../server.ts'

export async function webAnswer(app: HttpApp, request: Request): Promise<Response> {
  const incoming = incomingOf(request)
  const { outgoing, direct, headers } = outgoingOf(request)
  const leave = (): void => {
    outgoing.destroy()
    incoming.destroy()
  }
  if (request.signal.aborted) leave()
  request.signal.addEventListener('abort', leave, { once: true })
  outgoing.once('close', () => request.signal.removeEventListener('abort', leave))
  const env = { incoming, outgoing } as unknown as HttpBindings
  const answer = await app.fetch(request, env)
  const written = direct()
  if (written !== undefined) return written
  outgoing.destroy() // nothing writes to it, and its listeners end with it
  return withHeaders(answer, headers)
}

/** The parts of Node's request that the routes read. */
function incomingOf(request: Request): Readable {
  const { body, headers, method, url } = request
  const readable =
    body === null
      ? Readable.from([])
      : Readable.fromWeb(body as Parameters<typeof Readable.fromWeb>[0])
  readable.on('error', () => {}) // nobody has to read the body
  const given = Object.fromEntries(headers)
  // A request that a program made has none of these headers.
  const own = {
    host: new URL(url).host,
    ...(body !== null && !headers.has('content-length') && { 'transfer-encoding': 'chunked' }),
  }
  return Object.assign(readable, { headers: { ...own, ...given }, method, url })
}

type WebOutgoing = Outgoing &
  Pick<ServerResponse, 'setHeader' | 'once' | 'destroy' | 'writableFinished'>

/** The parts of Node's response that the routes use. `direct`: the answer, once a route wrote its head. */
function outgoingOf({ method }: Request) {
  const headers = new Headers()
  const bytes = new PassThrough()
  let status: number | undefined
  bytes.on('error', () => {}) // a client that leaves is no fault

  // Not the stream itself: Node takes a stream with `req` for one of its requests.
  const outgoing = {
    req: { method },
    setHeader: (name: string, value: string | number) => headers.set(name, String(value)),
    writeHead(code: number, given: Record<string, string | number>) {
      status = code
      for (const [name, value] of Object.entries(given)) headers.set(name, String(value))
    },
    write: bytes.write.bind(bytes),
    end: bytes.end.bind(bytes),
    on: bytes.on.bind(bytes),
    once: bytes.once.bind(bytes),
    off: bytes.off.bind(bytes),
    destroy: bytes.destroy.bind(bytes),
    get destroyed() {
      return bytes.destroyed
    },
    get writableNeedDrain() {
      return bytes.writableNeedDrain
    },
    get writableFinished() {
      return bytes.writableFinished
    },
  } as unknown as WebOutgoing
  return {
    outgoing,
    headers,
    direct(): Response | undefined {
      if (status === undefined) return undefined
      if (method !== 'HEAD') return new Response(bodyOf(bytes), { status, headers })
      bytes.resume()
      return new Response(null, { status, headers })
    },
  }
}

function bodyOf(bytes: PassThrough): ReadableStream<Uint8Array> {
  return Readable.toWeb(bytes) as ReadableStream<Uint8Array>
}

/** The headers that a middleware set on Node's response. Those of the answer itself win. */
function withHeaders(answer: Response, headers: Headers): Response {
  const all = new Headers(headers)
  for (const [name, value] of answer.headers) all.set(name, value)
  return new Response(answer.body, { status: answer.status, headers: all })
}
