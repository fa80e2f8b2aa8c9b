// Health and metrics over HTTP, for process managers and monitoring. It reveals no secret and
// changes nothing, so it needs no credentials. By default only this machine can connect. It drops
// slow clients and idle connections: a probe must never block the process.
// Connections without a request in work never keep a probe out. A further connection
// closes the oldest of them, of the address that has the most.

import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { closed, listening } from '../../shared/lib/listening.ts'
import type { Health } from './health.ts'
import type { Metrics } from './metrics/metrics.ts'

export type HealthServer = { readonly url: string; close(): Promise<void> }

/** `port`: 0 for any free port. */
export type HealthServerOptions = {
  host: string
  port: number
  health: Pick<Health, 'live' | 'ready'>
  metrics: Pick<Metrics, 'text' | 'contentType'>
}

type Answer = { status: number; type: string; body: string; headers?: Record<string, string> }

const requestMs = 5_000
const idleMs = 10_000
const connectionsMax = 64
const headerBytesMax = 8 * 1024

/** Throws `settings.invalid` if it cannot listen on the address. */
export async function startHealthServer({
  host,
  port,
  health,
  metrics,
}: HealthServerOptions): Promise<HealthServer> {
  const pages: Record<string, () => Answer | Promise<Answer>> = {
    '/livez': () => json(health.live.live ? 200 : 503, health.live),
    '/readyz': () => json(health.ready.ready ? 200 : 503, health.ready),
    '/metrics': async () => ({
      status: 200,
      type: metrics.contentType,
      body: await metrics.text(),
    }),
  }
  const connections = boundedConnections(connectionsMax)
  const server = createServer(
    {
      requestTimeout: requestMs,
      headersTimeout: requestMs,
      connectionsCheckingInterval: 1_000,
      maxHeaderSize: headerBytesMax,
    },
    (request, response) => {
      connections.isAnswering(request.socket)
      response.once('close', () => connections.isIdle(request.socket))
      answerTo(request)
        .catch(() => text(500, 'The answer could not be made.\n'))
        .then((answer) => send(request, response, answer))
        .catch(() => response.destroy())
    },
  )
  server.on('connection', connections.opened)
  server.keepAliveTimeout = requestMs
  server.setTimeout(idleMs, (socket) => socket.destroy())

  async function answerTo({ url = '', method = '' }: IncomingMessage): Promise<Answer> {
    const page = Object.hasOwn(pages, pathOf(url)) ? pages[pathOf(url)] : undefined
    if (page === undefined)
      return text(404, `Unknown page. Pages: ${Object.keys(pages).join(', ')}.\n`)
    if (method !== 'GET' && method !== 'HEAD')
      return { ...text(405, 'Only GET and HEAD are allowed.\n'), headers: { allow: 'GET, HEAD' } }
    return page()
  }

  await listening(server, {
    name: 'the health server',
    host,
    port,
    advice:
      'give another address: --health-port PORT (WEIR_HEALTH_PORT; 0: any free port), --health-host HOST (WEIR_HEALTH_HOST)',
  })
  return {
    url: urlOf(server.address() as AddressInfo),
    close: () => closed(server),
  }
}

type Connections = {
  opened(socket: Socket): void
  isAnswering(socket: Socket): void
  isIdle(socket: Socket): void
}

function boundedConnections(max: number): Connections {
  const open = new Set<Socket>()
  /** Those without a request in work, with their addresses, oldest first. */
  const idle = new Map<Socket, string>()

  function victim(): Socket | undefined {
    const counts = new Map<string, number>()
    for (const address of idle.values()) counts.set(address, (counts.get(address) ?? 0) + 1)
    const most = Math.max(...counts.values())
    return [...idle].find(([, address]) => counts.get(address) === most)?.[0]
  }

  const drop = (socket: Socket): void => {
    open.delete(socket)
    idle.delete(socket)
    socket.destroy()
  }

  return {
    opened(socket) {
      if (open.size >= max) drop(victim() ?? socket)
      if (socket.destroyed) return
      open.add(socket)
      idle.set(socket, socket.remoteAddress ?? '')
      socket.once('close', () => drop(socket))
    },
    isAnswering(socket) {
      idle.delete(socket)
    },
    isIdle(socket) {
      if (open.has(socket)) idle.set(socket, socket.remoteAddress ?? '')
    },
  }
}

function send(
  { method }: IncomingMessage,
  response: ServerResponse,
  { status, type, body, headers }: Answer,
): void {
  response.writeHead(status, {
    'content-type': type,
    'content-length': Buffer.byteLength(body),
    'cache-control': 'no-store',
    ...headers,
  })
  response.end(method === 'HEAD' ? undefined : body)
}

function json(status: number, value: object): Answer {
  return {
    status,
    type: 'application/json; charset=utf-8',
    body: `${JSON.stringify(value, undefined, 2)}\n`,
  }
}

function text(status: number, body: string): Answer {
  return { status, type: 'text/plain; charset=utf-8', body }
}

function pathOf(url: string): string {
  return url.split('?', 1)[0] ?? ''
}

function urlOf({ address, port, family }: AddressInfo): string {
  return `http://${family === 'IPv6' ? `[${address}]` : address}:${port}`
}
