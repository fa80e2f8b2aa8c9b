// How SDKs speak HTTP here: their `fetch`, on Node's own HTTP client. Connections are Node's global
// ones: kept a few seconds for the next request, and through a proxy where Node was told to use one
// (NODE_USE_ENV_PROXY). Node's fetch is not used: it gives up after five minutes without a byte
// whatever an agent's stallMs says, it closes the connection where the last event is read and the
// end of the body is not, and each piece of a stream takes it three times as long
// (test/bench/README.md).
// HTTP-FETCH-1. What a `fetch` does and an SDK may rely on is here: a body as text, an abort,
//     headers, compressed answers.
// HTTP-FETCH-2. An aborted request is off the network at once. One that its reader left may end by
//     itself, for a moment, so that its connection can be kept.
// HTTP-FETCH-3. Where a conversation and its key go is the agent file's decision: a redirect is
//     followed within its server only. A `fetch` would take the conversation anywhere, and every
//     key that is not called Authorization.

import http, { type ClientRequest, type IncomingMessage } from 'node:http'
import https from 'node:https'
import { pipeline, type Readable } from 'node:stream'
import zlib from 'node:zlib'
import { limits } from '../../../shared/contract/limits.ts'

/**
 * As `fetch`; `body` is a text or nothing. The response has what the SDKs look at: status, headers,
 * body, text().
 */
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
  const received = {
    url: url.href,
    status,
    statusText: message.statusMessage,
    ok: status >= 200 && status < 300,
    headers: headersOf(message),
    body,
  }
  return { ...received, text: () => beginningOf(body) } as unknown as Response
}

const redirectsMax = 5

/**
 * Keeps HTTP-FETCH-3. Others than these two ask for the answer to another request: that one would
 * not be a model's.
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
 * Resolves when the headers have come; rejects as `fetch` does, with the cause in it, or with the
 * reason of the abort.
 */
function send(
  url: URL,
  { method = 'GET', headers, body, signal }: RequestInit,
): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    signal?.throwIfAborted()
    if (url.username !== '' || url.password !== '')
      throw new TypeError('a URL with a name and a password in it is not asked, as in fetch')
    // As a list, which Node takes as it is: one by one they cost more than the rest of the request.
    const list = ['host', url.host, 'accept-encoding', 'identity']
    for (const [name, value] of headers instanceof Headers ? headers : new Headers(headers))
      list.push(name, value)
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

/** A server that does not answer at all is worth another attempt sooner than one that is silent. */
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

/**
 * What came together comes together: a stream of small pieces is read a few times and not for each
 * of them.
 */
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

/**
 * SDKs ask for the text of an answer where it is an error. One that does not end tells no more than
 * its beginning (R7).
 */
async function beginningOf(body: AsyncIterable<Buffer>): Promise<string> {
  const pieces: Buffer[] = []
  let bytes = 0
  for await (const piece of body) {
    pieces.push(piece)
    bytes += piece.length
    if (bytes > limits.providerErrorBytesMax) break
  }
  return new TextDecoder().decode(Buffer.concat(pieces).subarray(0, limits.providerErrorBytesMax))
}

/** Keeps HTTP-FETCH-2: what is left of the body is mostly its end. */
function leave(message: IncomingMessage): void {
  if (message.readableEnded || message.destroyed) return
  const timer = setTimeout(() => message.destroy(), limits.modelLeaveMs)
  timer.unref()
  let bytes = 0
  message.on('data', (piece: Buffer) => {
    bytes += piece.length
    if (bytes > limits.modelLeaveBytesMax) message.destroy()
  })
  message.once('close', () => clearTimeout(timer))
  message.on('error', () => {})
  message.resume()
}
