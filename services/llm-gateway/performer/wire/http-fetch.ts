// A `fetch` for requests to providers, built on Node's HTTP client. It uses Node's global connection pool,
// which keeps connections for a few seconds and follows NODE_USE_ENV_PROXY.
// Not Node's fetch: it fails after five minutes without a byte, regardless of an agent's stallMs. It
// closes a connection whose reader stops at the last event, and it takes three times as long for
// each piece of a stream (test/bench/README.md).
//
// It offers the parts of `fetch` that the gateway uses: a text body, abort, headers, compressed
// answers.
// An aborted request leaves the network at once. An answer that its reader left may
// end within a moment, which keeps its connection usable.
// Redirects are followed within one server only: the agent file decides where a
// conversation and its key go.

import http, { type ClientRequest, type IncomingMessage } from 'node:http'
import https from 'node:https'
import { pipeline, type Readable } from 'node:stream'
import zlib from 'node:zlib'
import { limits } from '../../../../shared/contract/limits.ts'

/** Bytes of a provider's error that are read. A reason keeps the beginning of its message. */
export const providerErrorBytesMax = 256 * 1024
/**
 * How long, and for how many bytes, the rest of an unneeded response is read, to keep its
 * connection.
 */
export const modelLeaveMs = 1_000
export const modelLeaveBytesMax = 64 * 1024

/** Like `fetch`, with a text body or none. The response has only the parts that the gateway uses. */
export const httpFetch: typeof globalThis.fetch = async (input, init = {}) => {
  let url = new URL(input instanceof Request ? input.url : input)
  let message = await send(url, init)
  for (let redirects = 0; redirects < redirectsMax; redirects += 1) {
    const next = redirectOf(url, message)
    if (next === undefined) break
    leave(message)
    url = next
    message = await send(url, init)
  }
  const status = message.statusCode ?? 0
  const body = piecesOf(message)
  let headers: Headers | undefined
  return {
    url: url.href,
    status,
    statusText: message.statusMessage,
    ok: status >= 200 && status < 300,
    get headers() {
      headers ??= headersOf(message) // few of them are read
      return headers
    },
    body,
    text: () => beginningOf(body),
  } as unknown as Response
}

const redirectsMax = 5

/**
 * Other redirect codes change the request, and its answer would not be a
 * model's. A real `fetch` would send the conversation anywhere, with every key outside
 * Authorization.
 */
function redirectOf(
  from: URL,
  { statusCode, headers: { location } }: IncomingMessage,
): URL | undefined {
  if ((statusCode !== 307 && statusCode !== 308) || location === undefined) return undefined
  const to = URL.parse(location, from.href)
  return to?.origin === from.origin ? to : undefined
}

/**
 * Resolves when the headers arrive. Rejects like `fetch`, with the cause inside, or with the reason
 * of the abort.
 */
function send(
  url: URL,
  { method = 'GET', headers, body, signal }: RequestInit,
): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    signal?.throwIfAborted()
    if (url.username !== '' || url.password !== '')
      throw new TypeError('a URL with a name and a password in it is not asked, as in fetch')
    // One list, which Node uses as it is: single headers cost more than the rest of the request.
    const list = ['host', url.host, 'accept-encoding', 'identity']
    const pairs =
      Array.isArray(headers) || headers instanceof Headers ? headers : new Headers(headers)
    for (const [name, value] of pairs) list.push(name as string, value as string)
    if (typeof body === 'string') list.push('content-length', String(Buffer.byteLength(body)))
    const request = (url.protocol === 'https:' ? https : http).request(
      url,
      { method, headers: list },
      resolve,
    )
    request.on('error', (cause) =>
      reject(signal?.aborted ? signal.reason : new TypeError('fetch failed', { cause })),
    )
    giveUpConnecting(request)
    signal?.addEventListener('abort', () => request.destroy(signal.reason), { once: true })
    request.end(body)
  })
}

function headersOf({ rawHeaders }: IncomingMessage): Headers {
  const headers = new Headers()
  for (let at = 0; at + 1 < rawHeaders.length; at += 2)
    headers.append(rawHeaders[at] as string, rawHeaders[at + 1] as string)
  return headers
}

/** A missing connection deserves a retry sooner than a silent server. */
function giveUpConnecting(request: ClientRequest): void {
  request.once('socket', (socket) => {
    if (!socket.connecting) return
    const timer = setTimeout(() => {
      const reason = `no connection within ${limits.modelConnectMs} ms`
      request.destroy(Object.assign(new Error(reason), { code: 'ETIMEDOUT' }))
    }, limits.modelConnectMs)
    const done = (): void => clearTimeout(timer)
    socket.once('connect', done)
    request.once('close', done)
  })
}

const decoders: Record<string, () => zlib.Gunzip | zlib.BrotliDecompress> = {
  gzip: () => zlib.createGunzip(),
  'x-gzip': () => zlib.createGunzip(),
  deflate: () => zlib.createInflate(),
  br: () => zlib.createBrotliDecompress(),
}

/** Yields all bytes that are ready as one piece, which saves reads on a stream of small pieces. */
async function* piecesOf(message: IncomingMessage): AsyncGenerator<Buffer, void> {
  const decoder = decoders[message.headers['content-encoding']?.toLowerCase() ?? '']?.()
  try {
    const body: Readable = decoder === undefined ? message : pipeline(message, decoder, () => {})
    yield* body.iterator({ destroyOnReturn: false })
  } finally {
    decoder?.destroy()
    leave(message)
  }
}

/** The gateway reads the text of an error. Of an endless one, only the beginning is kept (R7). */
async function beginningOf(body: AsyncIterable<Buffer>): Promise<string> {
  const pieces: Buffer[] = []
  let bytes = 0
  for await (const piece of body) {
    pieces.push(piece)
    bytes += piece.length
    if (bytes > providerErrorBytesMax) break
  }
  return new TextDecoder().decode(Buffer.concat(pieces).subarray(0, providerErrorBytesMax))
}

/** The rest of the body is mostly just its end. */
function leave(message: IncomingMessage): void {
  if (message.readableEnded || message.destroyed) return
  const timer = setTimeout(() => message.destroy(), modelLeaveMs)
  timer.unref()
  let bytes = 0
  message.on('data', (piece: Buffer) => {
    bytes += piece.length
    if (bytes > modelLeaveBytesMax) message.destroy()
  })
  message.once('close', () => clearTimeout(timer))
  message.on('error', () => {})
  message.resume()
}
