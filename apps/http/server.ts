// The HTTP server of the fronts: one hono app, and the bounds that hold before anything is parsed.
// Owns: the socket, its limits, and the access to it. Does not own: the routes.
// A server that listens on this machine only answers no other site: a foreign Host
// or Origin gets 403. Otherwise a web page could reach it through its own domain name.
// Closing refuses new connections. Open answers get `limits.shutdownGraceMs`, and their
// connections close after them.
// An unforeseen error of a route gets 500 with a constant text: it may hold secrets.
// The client closes an idle connection, not this server: see httpIdleMs. While
// half of all connections are open, each answer announces that its connection closes.

import type { IncomingHttpHeaders, ServerResponse } from 'node:http'
import { createServer, type RequestListener, type Server } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { getRequestListener, type HttpBindings } from '@hono/node-server'
import { type Context, Hono } from 'hono'
import type { Logger } from 'pino'
import { limits } from '../../shared/contract/limits.ts'
import { WeirError } from '../../shared/lib/errors.ts'
import { listening } from '../../shared/lib/listening.ts'
import { escaped } from '../page/page-file.ts'
import { printable } from '../terminal/text/printable.ts'
import { errorBody, HttpError } from './http-error.ts'
import {
  acceptHttp2,
  type Http2Connections,
  httpHeaderBytesMax,
  httpHeadersMs,
  httpIdleMs,
} from './http2/http2-connections.ts'

/** How often the server looks for requests that arrive too slowly. Node's own value is 30 s. */
const httpLateCheckMs = 2_000
/** The time until the whole request has arrived. */
const httpRequestMs = 5 * 60_000
export const httpConnectionsMax = 4_096

/** `incoming` and `outgoing` are Node's. */
export type HttpApp = Hono<{ Bindings: HttpBindings }>
export type HttpContext = Context<{ Bindings: HttpBindings }>

export type HttpServer = {
  readonly port: number
  /** Without a slash at its end. */
  readonly url: string
  close(): Promise<void>
}

/** In PEM. `clientCa`: of the certificates that clients may show. No client has to show one. */
export type TlsFiles = { cert: string; key: string; clientCa?: string | undefined }

/** `port`: 0 for any free port. `routes` adds its routes to the app, in order. */
export type HttpServerOptions = {
  host: string
  port: number
  log: Logger
  /** The flags that set the address, for the error of one that is in use. */
  advice?: string
  /** Undefined: plain HTTP. */
  tls?: TlsFiles | undefined
  /** Origins of pages that may call it, such as `https://chat.example`. Default: its own only. */
  origins?: ReadonlySet<string>
  routes: ((app: HttpApp) => void)[]
  /** The remedy in the error of a path without a route. Default: none. */
  pathAdvice?(path: string): string
}

/** Throws `settings.invalid` if it cannot listen on the address. */
export async function startHttpServer({
  host,
  port,
  log,
  advice = 'give another address with --host and --port (0: any free port)',
  tls,
  origins = new Set(),
  routes,
  pathAdvice,
}: HttpServerOptions): Promise<HttpServer> {
  const refusing = (app: HttpApp): void =>
    void app.use(async (context, next) => {
      refuseForeign(context.env.incoming.headers, origins)
      await next()
    })
  const all = isLoopback(host) ? [refusing, ...routes] : routes
  const app = httpApp({ log, routes: all, pathAdvice })

  const listener = getRequestListener(app.fetch, { overrideGlobalObjects: false })
  const answering = new Set<ServerResponse>()
  let connections = 0
  const server = createSocketServer(tls, (incoming, outgoing) => {
    answering.add(outgoing)
    if (!server.listening || connections > httpConnectionsMax / 2) outgoing.shouldKeepAlive = false
    outgoing.once('close', () => {
      answering.delete(outgoing)
      // A client keeps the connection for its next request, and a closing server would wait for that.
      if (!server.listening) server.closeIdleConnections()
    })
    void listener(incoming, outgoing)
  })
  const http2 = tls === undefined ? acceptHttp2(server) : undefined
  server.on('connection', (socket) => {
    connections += 1
    socket.once('close', () => {
      connections -= 1
    })
  })
  server.maxConnections = httpConnectionsMax
  await listening(server, { name: 'the server', host, port, advice })
  const { port: taken } = server.address() as AddressInfo
  return {
    port: taken,
    url: `${tls === undefined ? 'http' : 'https'}://${host.includes(':') ? `[${host}]` : host}:${taken}`,
    close: () => closed(server, http2, answering),
  }
}

/** The routes, with an answer for each error and for each unknown path. */
export function httpApp({
  log,
  routes,
  pathAdvice,
}: Pick<HttpServerOptions, 'log' | 'routes' | 'pathAdvice'>): HttpApp {
  const app: HttpApp = new Hono()
  for (const add of routes) add(app)
  app.notFound((context) => answerOf(context, unknownPath(context, pathAdvice)))
  app.onError((error, context) => {
    if (error instanceof HttpError) return answerOf(context, error)
    const isGone = context.env.incoming.readableAborted // nobody gets the answer
    if (!isGone)
      log.error({ err: error, path: context.req.path }, 'a route of the HTTP server failed')
    return answerOf(context, new HttpError(500, 'http.internal', 'Weir could not answer'))
  })
  return app
}

/** Throws `settings.invalid` for certificates that cannot be used. */
function createSocketServer(tls: TlsFiles | undefined, answer: RequestListener): Server {
  const bounds = {
    maxHeaderSize: httpHeaderBytesMax,
    headersTimeout: httpHeadersMs,
    requestTimeout: httpRequestMs,
    keepAliveTimeout: httpIdleMs,
    connectionsCheckingInterval: httpLateCheckMs,
    // Model clients write small pieces and wait for each answer.
    noDelay: true,
  }
  if (tls === undefined) return createServer(bounds, answer)
  const { cert, key, clientCa } = tls
  // A request with a bad certificate gets an answer with the reason: see edge/access/access.ts.
  const client = clientCa !== undefined && {
    ca: clientCa,
    requestCert: true,
    rejectUnauthorized: false,
  }
  try {
    const handshakeTimeout = httpHeadersMs
    return createTlsServer({ ...bounds, cert, key, ...client, handshakeTimeout }, answer)
  } catch (cause) {
    throw tlsFault(cause)
  }
}

function tlsFault(cause: unknown): WeirError {
  const text =
    'the TLS certificate, its key or the authority of clients cannot be used: give PEM files that belong together'
  return new WeirError('settings.invalid', text, { cause })
}

/** Whether only this machine can connect. */
export function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || /^127(\.\d{1,3}){3}$/.test(host)
}

/** The usual ways to name this machine in `Host`. Others are parsed. */
const thisMachine = /^(localhost|127\.0\.0\.1|\[::1\])(:\d{1,5})?$/

function refuseForeign(headers: IncomingHttpHeaders, origins: ReadonlySet<string>): void {
  const { host = '', origin } = headers
  if (origin === undefined && thisMachine.test(host)) return refuseOrigin(headers, host, origins)
  const asked = URL.parse(`http://${host}`)
  if (asked === null || !isLoopback(asked.hostname.replace(/^\[|\]$/g, '')))
    throw new HttpError(
      403,
      'http.host',
      'this server answers on this machine only: call it as 127.0.0.1, or let it listen on another address',
    )
  refuseOrigin(headers, asked.host, origins)
}

/**
 * Throws 403 for a page of another site. A link to a page of this server is no such request. `host`:
 * with its port, as the request names the server.
 */
export function refuseOrigin(
  { origin, 'sec-fetch-site': site, 'sec-fetch-mode': mode }: IncomingHttpHeaders,
  host: string,
  origins: ReadonlySet<string>,
): void {
  const isForeign = ['cross-site', 'same-site'].includes(`${site}`) && mode !== 'navigate'
  if (origin === undefined ? !isForeign : origins.has(origin) || URL.parse(origin)?.host === host)
    return
  throw new HttpError(403, 'http.origin', 'this server does not answer pages of other sites')
}

/** A browser that asks for a page gets the text as one, and each other client JSON. */
function answerOf(context: HttpContext, error: HttpError): Response {
  const { method } = context.req
  if (method === 'GET' && context.req.header('accept')?.startsWith('text/html'))
    return context.html(errorPage(error), error.status, { ...error.headers, ...pageHeaders })
  return context.json(errorBody(error), error.status, error.headers)
}

const pageHeaders = {
  'content-security-policy': "default-src 'none'",
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
}

function errorPage({ status, message }: HttpError): string {
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<title>Weir: ${status}</title>
<p>${escaped(printable(message))}</p>
</html>
`
}

function unknownPath(
  { req: { method, path } }: HttpContext,
  pathAdvice: HttpServerOptions['pathAdvice'],
): HttpError {
  const text = `unknown path: there is no ${method} ${path.slice(0, pathCharactersMax)}`
  const advice = pathAdvice === undefined ? '' : `; ${pathAdvice(path)}`
  return new HttpError(404, 'http.path', text + advice)
}

const pathCharactersMax = 100

async function closed(
  server: Server,
  http2: Http2Connections | undefined,
  answering: ReadonlySet<ServerResponse>,
): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>()
  server.close(() => resolve())
  server.closeIdleConnections()
  http2?.close()
  for (const outgoing of answering) outgoing.shouldKeepAlive = false
  const late = setTimeout(() => {
    server.closeAllConnections()
    http2?.cut()
  }, limits.shutdownGraceMs)
  await promise
  clearTimeout(late)
}
