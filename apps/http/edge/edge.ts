// The HTTP edge: one server for chat clients, programs and people. It checks access, and hands each
// request to the protocol with its path.
// Owns: access, rates, the form of errors. Does not own: the routes, or any decision about a turn.

import type { ServerResponse } from 'node:http'
import type { HttpBindings } from '@hono/node-server'
import { Hono, type MiddlewareHandler } from 'hono'
import { cors } from 'hono/cors'
import type { Logger } from 'pino'
import { limits } from '../../../shared/contract/limits.ts'
import { type Clock, type Milliseconds, systemClock } from '../../../shared/lib/clock.ts'
import { WeirError } from '../../../shared/lib/errors.ts'
import { errorBody } from '../http-error.ts'
import {
  type HttpApp,
  type HttpServer,
  type HttpServerOptions,
  refuseOrigin,
  startHttpServer,
} from '../server.ts'
import { type Access, type AccessOptions, accessOf } from './access/access.ts'
import { type OpenAnswers, openAnswers } from './access/open-answers.ts'
import { type EdgeWeir, ownWeir } from './access/own-weir.ts'
import { type Principal, requireRole } from './access/principal.ts'
import { requestRate } from './access/request-rate.ts'
import { createMessageIds } from './chat/message-ids.ts'
import type { EdgeContext, Protocol } from './edge-context.ts'
import { httpErrorOf } from './edge-errors.ts'
import { protocols } from './protocols.ts'

export type EdgeAppOptions = {
  weir: EdgeWeir
  access: AccessOptions
  /** Origins of pages that may call it. */
  origins: readonly string[]
  requestsPerMinute?: number | undefined
  clock?: Clock
  log: Logger
  /** Further protocols, which need more than the context. */
  more?: readonly Protocol[]
}

export type EdgeOptions = EdgeAppOptions &
  Pick<HttpServerOptions, 'host' | 'port' | 'tls' | 'advice'> & {
    /** Routes without an author, in front of all others. They have their own errors. */
    before?: ((app: HttpApp) => void)[]
  }

/** The routes of the edge, for any server. `close` ends its open streams. */
export type EdgeApp = { app: HttpApp; allowed: ReadonlySet<string>; close(): void }

/** Throws `settings.invalid` for an address or a file of keys that cannot be used. */
export async function startEdge({
  host,
  port,
  tls,
  advice,
  before = [],
  ...options
}: EdgeOptions): Promise<HttpServer> {
  const edge = openEdgeApp(options)
  const server = await startHttpServer({
    host,
    port,
    log: options.log,
    tls,
    origins: edge.allowed,
    advice,
    routes: [...before, (root) => void root.route('/', edge.app)],
    pathAdvice,
  })
  return {
    ...server,
    async close() {
      edge.close()
      await server.close()
    },
  }
}

/** Throws `settings.invalid` for a file of keys that cannot be used. */
export function openEdgeApp({
  weir,
  access,
  origins,
  requestsPerMinute = limits.edgeRequestsPerMinute,
  clock = systemClock,
  log,
  more = [],
}: EdgeAppOptions): EdgeApp {
  const allowed = new Set(origins)
  const authors = new WeakMap<Request, Principal>()
  const closing = new AbortController()
  const weirOf = (principal: Principal): EdgeWeir => ownWeir(weir, principal)
  const context: EdgeContext = {
    weirOf,
    agents: weir.agents,
    clock,
    log,
    closing: closing.signal,
    messageIds: createMessageIds(weirOf, clock),
    principalOf(request, role) {
      const principal = authors.get(request)
      if (principal === undefined) throw new WeirError('runtime.assertion', 'no author is known')
      if (role !== undefined) requireRole(principal, role)
      return principal
    },
  }
  const app = edgeApp(context, {
    all: [...protocols, ...more],
    allowed,
    authors,
    access: accessOf(access, context),
    rate: requestRate(requestsPerMinute, clock),
    open: openAnswers(),
  })
  return { app, allowed, close: () => closing.abort() }
}

/** Most clients with an unknown path have a wrong base URL. */
export function pathAdvice(path: string): string {
  return path.startsWith('/v1/')
    ? 'docs/reference/http.md lists the paths of this server'
    : 'the base URL of a client of the API ends with /v1'
}

/** An answer ends with the token of its reader, so a stream does not outlive it. */
function endAt(
  until: Milliseconds | undefined,
  outgoing: Pick<ServerResponse, 'once' | 'destroy'>,
  clock: Clock,
): void {
  if (until === undefined) return
  const stop = clock.after(Math.max(0, until - clock.now()), () => void outgoing.destroy())
  outgoing.once('close', stop)
}

/** The headers of CORS, for a request that names its origin. */
function sharedWith(allowed: ReadonlySet<string>): MiddlewareHandler<{ Bindings: HttpBindings }> {
  const add = cors({
    origin: (origin) => (allowed.has(origin) ? origin : null),
    exposeHeaders: [
      'x-weir-conversation',
      'x-weir-outcome',
      'x-weir-tools-left-out',
      'retry-after',
      'x-should-retry',
    ],
  })
  return async (http, next) => {
    const { incoming, outgoing } = http.env
    outgoing.setHeader('vary', 'Origin')
    if (incoming.headers.origin === undefined && incoming.method !== 'OPTIONS') return next()
    return add(http, () => {
      for (const [name, value] of http.res.headers) outgoing.setHeader(name, value)
      return next()
    })
  }
}

type Checks = {
  all: readonly Protocol[]
  allowed: ReadonlySet<string>
  authors: WeakMap<Request, Principal>
  access: Access
  rate: ReturnType<typeof requestRate>
  open: OpenAnswers
}

function edgeApp(
  context: EdgeContext,
  { all, allowed, authors, access, rate, open }: Checks,
): HttpApp {
  const app: HttpApp = new Hono()
  app.onError((error, { env, header, json, req }) => {
    const answer = httpErrorOf(error)
    const { status, headers } = answer
    const isGone = env.incoming.readableAborted // nobody gets the answer
    const isCut = context.closing.aborted // a server that closes breaks its open requests
    if (status >= 500 && !isGone && !isCut)
      context.log.error({ err: error, path: req.path }, 'a request failed')
    // SDKs of OpenAI repeat a request after 409, and the answer would be the same.
    if (status === 409) header('x-should-retry', 'false')
    return json(errorBody(answer), status, headers)
  })
  app.use(async ({ env: { incoming } }, next) => {
    refuseOrigin(incoming.headers, incoming.headers.host ?? '', allowed)
    await next()
  })
  app.use(sharedWith(allowed))
  for (const { publicRoutes } of all)
    if (publicRoutes !== undefined) app.route('/', publicRoutes(context))
  app.use(async ({ env, req }, next) => {
    const principal = await access(env.incoming, req.raw)
    authors.set(req.raw, principal)
    endAt(principal.until, env.outgoing, context.clock)
    for (const [name, value] of Object.entries(rate(principal.id)))
      env.outgoing.setHeader(name, value)
    open(principal, env.outgoing)
    await next()
  })
  for (const { routes } of all) app.route('/', routes(context))
  return app
}
