// HTTP/2 without TLS on the port of an HTTP/1.1 server, as AWS's SDK for JavaScript speaks it (RFC 9113,
// section 3.3: with prior knowledge). Owns: connections that begin with the preface of HTTP/2, and those
// that have not begun.
// HTTP2-1. Each request becomes a request of HTTP/1.1 to the same server, so all rules and limits hold
//     for both.
// HTTP2-2. No client can tunnel: CONNECT gets no answer, and a WebSocket is not offered.

import { type IncomingMessage, request, type Server } from 'node:http'
import {
  constants,
  type IncomingHttpHeaders,
  type OutgoingHttpHeaders,
  performServerHandshake,
  type ServerHttp2Session,
  type ServerHttp2Stream,
} from 'node:http2'
import type { Socket } from 'node:net'
import { type Duplex, duplexPair } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { withoutConnection } from '../../../shared/lib/connection-headers.ts'

/** Bytes of the headers of one request to the HTTP server, and the time until they are complete. */
export const httpHeaderBytesMax = 64 * 1024
export const httpHeadersMs = 10_000
/** Requests at a time on one connection of HTTP/2. */
const http2StreamsMax = 100
/**
 * How long a connection without a request is kept. A model may think for minutes, and most clients
 * close idle connections themselves before. A request on a connection that this server has just
 * closed fails, and a host then denies the call or ends the turn.
 */
export const httpIdleMs = 15 * 60_000

export type Http2Connections = {
  /** Ends connections without a request. Others end after their answers. */
  close(): void
  /** Ends all connections. */
  cut(): void
}

/** A connection that is not of HTTP/1.1. */
type Connection = { session?: ServerHttp2Session; streams: number }

/** Gives the server the connections of HTTP/2 too. Call it before the server listens. */
export function acceptHttp2(server: Server): Http2Connections {
  const [accept] = server.listeners('connection') as [(connection: Duplex) => void]
  const connections = new Map<Socket, Connection>()
  let isClosing = false

  function endIdle(): void {
    for (const [socket, { session, streams }] of connections) {
      session?.close()
      // A client that reads its last answer slowly would keep the connection.
      if (streams === 0) socket.destroySoon()
    }
  }

  function begin(socket: Socket): void {
    const connection: Connection = { streams: 0 }
    connections.set(socket, connection)
    socket.once('close', () => connections.delete(socket))
    whenBegun(socket, (isHttp2) => {
      if (isHttp2) connection.session = sessionOn(socket, connection)
      else {
        connections.delete(socket)
        accept.call(server, socket)
      }
    })
  }

  function sessionOn(socket: Socket, connection: Connection): ServerHttp2Session {
    const session = performServerHandshake(socket, { settings })
    session.on('error', () => {}) // the connection ends
    session.setTimeout(httpIdleMs, () => session.close())
    session.on('stream', (stream, headers, _flags, raw) => {
      const [client, own] = duplexPair()
      connection.streams += 1
      stream.once('close', () => {
        connection.streams -= 1
        client.destroy()
        own.destroy()
        if (isClosing) endIdle()
      })
      accept.call(server, own)
      relay(stream, { headers, raw }, client)
    })
    return session
  }

  server.off('connection', accept)
  server.on('connection', begin)
  return {
    close() {
      isClosing = true
      endIdle()
    },
    cut() {
      for (const socket of connections.keys()) socket.destroy()
    },
  }
}

const settings = { maxConcurrentStreams: http2StreamsMax }

const preface = Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n')

/** Ends a connection whose first bytes do not come in time. */
function whenBegun(socket: Socket, begin: (isHttp2: boolean) => void): void {
  let begun = Buffer.alloc(0)
  const destroy = (): void => void socket.destroy()
  const ends = ['end', 'error', 'timeout']

  function onReadable(): void {
    begun = Buffer.concat([begun, socket.read() ?? Buffer.alloc(0)])
    const length = Math.min(begun.length, preface.length)
    const isHttp2 = begun.subarray(0, length).equals(preface.subarray(0, length))
    if (isHttp2 && length < preface.length) return
    socket.setTimeout(0)
    socket.off('readable', onReadable)
    for (const end of ends) socket.off(end, destroy)
    socket.unshift(begun)
    begin(isHttp2)
  }

  socket.setTimeout(httpHeadersMs)
  for (const end of ends) socket.on(end, destroy)
  socket.on('readable', onReadable)
}

/** Keeps HTTP2-1 and HTTP2-2. `raw`: the names and values of the request. */
function relay(
  stream: ServerHttp2Stream,
  { headers, raw }: { headers: IncomingHttpHeaders; raw: readonly string[] },
  connection: Duplex,
): void {
  const refuse = (): void => stream.close(constants.NGHTTP2_INTERNAL_ERROR)
  stream.on('error', refuse)
  const { ':method': method, ':path': path, ':authority': authority = headers.host } = headers
  if (path === undefined || authority === undefined) return refuse()
  const others = withoutConnection(raw, (name) => name.startsWith(':') || name === 'host')
  const isChunked = !stream.endAfterHeaders && headers['content-length'] === undefined
  const framing = isChunked ? ['transfer-encoding', 'chunked'] : []
  try {
    const list = ['host', authority, 'connection', 'close', ...others, ...framing]
    const sent = request({ createConnection: () => connection, method, path, headers: list })
    sent.on('error', refuse)
    sent.once('response', (answer) => void answered(stream, answer).catch(refuse))
    if (stream.endAfterHeaders) sent.end()
    else pipeline(stream, sent).catch(() => {}) // the answer shows the reason
  } catch {
    refuse() // HTTP/1.1 has no such path or header
  }
}

async function answered(stream: ServerHttp2Stream, answer: IncomingMessage): Promise<void> {
  const headers: OutgoingHttpHeaders = { ':status': answer.statusCode ?? 502 }
  const raw = withoutConnection(answer.rawHeaders)
  for (let at = 0; at + 1 < raw.length; at += 2) {
    const name = (raw[at] as string).toLowerCase()
    const value = raw[at + 1] as string
    const before = headers[name]
    headers[name] = before === undefined ? value : [before, value].flat().map(String)
  }
  stream.once('wantTrailers', () => stream.sendTrailers(answer.trailers))
  stream.respond(headers, { waitForTrailers: true })
  if (stream.writableEnded)
    answer.resume() // an answer without a body
  else await pipeline(answer, stream)
}
