// The model proxy: a guest changes its base URL, and Weir judges the history of each request. In
// advice mode the bytes of every answer pass unchanged. The folder veto holds calls.
// Reads: requests of guests. Owns: the routes, and which requests are judged.
// PROXY-1. Without advice the bytes of a request pass unchanged.
// PROXY-2. Without a veto an answer never waits for Weir: the round is read from a copy.
// PROXY-3. Without a veto, a request that Weir cannot judge passes with `x-weir: unjudged` (R6).
// PROXY-4. No header of a client, and no text of an answer, enters a log line.

import { randomUUID } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { pipeline } from 'node:stream/promises'
import { RESPONSE_ALREADY_SENT } from '@hono/node-server/utils/response'
import type { Logger } from 'pino'
import type { Advice } from '../../../../client/guard/guest-conversation.ts'
import type { Reservation } from '../../../../services/llm-gateway/budgets/reservation.ts'
import { limits } from '../../../../shared/contract/limits.ts'
import { HttpError } from '../../http-error.ts'
import { bytesOf } from '../../request-body.ts'
import type { HttpApp } from '../../server.ts'
import { heldVerdicts } from '../hooks/held-verdicts.ts'
import type { HostSessions } from '../hooks/host-sessions.ts'
import { copyOf, roundIn } from './answer-copy.ts'
import type { Json, ProxyApi, SentRequest } from './api.ts'
import { apiAt, isOfWeir, type Judgeable } from './apis.ts'
import {
  callIdsIn,
  type GuestIdentity,
  guestIdentities,
  historyOf,
  sessionOf,
} from './guest-identity.ts'
import { advisedBytes, noteOf, readable, sendAdvised, withoutEncoding } from './judged-request.ts'
import {
  type ProxiedConversation,
  releasedWithoutAnswer,
  reserveRequest,
  unnamedIdentity,
} from './request-budget.ts'
import { answerHeaders, type Upstream } from './upstream.ts'
import { createVeto, type VetoOptions } from './veto/veto.ts'

export type ProxyOptions = {
  upstream: Upstream
  conversationOf: ConversationOf
  /** The sessions whose calls hooks can hold. */
  sessions: HostSessions
  /** Undefined: calls are not held. */
  veto?: VetoOptions | undefined
  /** The guest at the root. Undefined: the root is not the proxy's. */
  agent: string | undefined
  /** The text for a guest's user when Weir ends a turn, if the advice has none. */
  fallback: string
  log: Logger
}

/**
 * The conversation of a guest. `turn` undefined: the history names it. `holds`: the calls of this guest
 * are held, here or in hooks. `hides`: the guest does not see refused answers.
 */
export type ConversationOf = (
  agent: string,
  id: string,
  options: { turn: string | undefined; holds: boolean; hides: boolean },
) => Promise<ProxiedConversation>

export type ModelProxy = {
  /** With a guest at the root it takes all paths that have no other route: add it last. */
  routes(app: HttpApp): void
  /** Resolves once the rounds of all finished answers are with Weir. */
  settled(): Promise<void>
}

/** `path`: at the upstream, with the query. */
type Route = { agent: string; path: string; answers: Judgeable }
type JudgedRoute = Pick<Route, 'agent' | 'path'> & { api: ProxyApi }

/** A judged request. `note`: the value of the header `x-weir`. */
type Judged = {
  kind: 'send'
  body: Buffer
  note: string | undefined
  /** The request without the rung that a server may refuse. */
  retry: Buffer | undefined
  sent: SentRequest | undefined
  isChanged: boolean
  /** Undefined: it has no conversation yet, or is not judged. */
  guest?: ProxiedConversation | undefined
}

export function createProxy({
  upstream,
  conversationOf,
  sessions,
  veto: vetoOptions,
  agent,
  fallback,
  log,
}: ProxyOptions): ModelProxy {
  const identities = guestIdentities()
  const reading = new Set<Promise<void>>()
  const veto =
    vetoOptions &&
    createVeto(vetoOptions, {
      ...{ upstream, identities, sessions, fallback, log, track },
      conversationOf: (name, { conversation, turn }) =>
        conversationOf(name, conversation, { turn, holds: true, hides: true }),
    })

  async function answer(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
    const { agent: name, path, answers } = routeOf(incoming, agent)
    if (isOfWeir(path)) throw new HttpError(404, 'http.path', 'unknown path')
    const gone = new AbortController()
    outgoing.once('close', () => gone.abort())
    if (answers.kind !== 'api') {
      if (answers.kind === 'unknown' && veto?.covers(incoming.headers)) throw unknownPath(path)
      await passThrough({ path, answers }, incoming, outgoing, gone.signal)
      return
    }
    const { api } = answers
    const route = { agent: name, path, api }
    const bytes = await bytesOf(incoming, limits.frontBodyBytesMax)
    const sent = await readable(bytes, incoming)
    if (veto?.covers(incoming.headers) && mayCall(api, sent)) {
      const { signal } = gone
      await veto.answer({ ...route, incoming, outgoing, sent, bytes, signal })
      return
    }
    const judged = await judge(route, incoming, bytes, sent, gone.signal)
    if ('rung' in judged) endTurn(api, sent as SentRequest, judged, outgoing)
    else {
      const reservation = await reserved(route, incoming, { sent, bytes }, judged.guest)
      await ask(route, incoming, outgoing, { ...judged, reservation }, gone.signal)
    }
  }

  async function passThrough(
    { path, answers }: Pick<Route, 'path' | 'answers'>,
    incoming: IncomingMessage,
    outgoing: ServerResponse,
    signal: AbortSignal,
  ): Promise<void> {
    const { method = 'GET', rawHeaders: headers } = incoming
    const hasBody =
      incoming.headers['content-length'] !== undefined ||
      incoming.headers['transfer-encoding'] !== undefined
    const body = hasBody ? incoming : undefined
    const received = await upstream.send({ method, path, headers, body, signal })
    await relay(received, outgoing, answers.kind === 'unknown' ? 'unjudged' : undefined)
  }

  /** The request to send, or the advice to end the turn. */
  async function judge(
    { agent, api }: JudgedRoute,
    { headers }: IncomingMessage,
    bytes: Buffer,
    sent: SentRequest | undefined,
    signal: AbortSignal,
  ): Promise<Judged | Advice> {
    const unchanged = (note: string | undefined, judgeable: SentRequest | undefined): Judged => ({
      ...{ kind: 'send', body: bytes, note, retry: undefined },
      ...{ sent: judgeable, isChanged: false },
    })
    if (sent === undefined || api.isElsewhere(sent.body)) return unchanged('unjudged', undefined)
    if (!mayCall(api, sent)) return unchanged(undefined, undefined)
    const identity = identities.ofRequest(api, headers, sent.body)
    if (identity === undefined) return unchanged(undefined, sent)
    const session = sessionOf(headers)
    if (session !== undefined) sessions.sawProxy(session)
    const holds = session !== undefined && sessions.hasHooks(session)
    const { advice, guest } = await adviceOn(agent, { ...identity, holds }, api, sent.body, signal)
    if (advice === undefined) return { ...unchanged('unjudged', undefined), guest }
    const { rung, rule, cap, reason } = advice
    if (!advice.judged) {
      log.info({ agent, conversation: identity.conversation, reason }, 'a request passes unjudged')
      return { ...unchanged('unjudged', sent), guest }
    }
    if (rung !== 'none')
      log.info({ agent, conversation: identity.conversation, rung, rule, cap }, 'advice')
    if (rung === 'none') return { ...unchanged(undefined, sent), guest }
    if (rung === 'end') return advice
    return {
      ...{ kind: 'send', note: noteOf(advice), sent, isChanged: true, guest },
      ...advisedBytes(api, sent, advice),
    }
  }

  /** Undefined: Weir cannot judge the request (PROXY-3). */
  async function adviceOn(
    agent: string,
    { conversation, turn, holds }: GuestIdentity & { holds: boolean },
    { format }: ProxyApi,
    body: Json,
    signal: AbortSignal,
  ): Promise<{ advice: Advice | undefined; guest: ProxiedConversation | undefined }> {
    let guest: ProxiedConversation | undefined
    try {
      guest = await conversationOf(agent, conversation, { turn, holds, hides: false })
      return { advice: await guest.beforeModel({ format, body }, signal), guest }
    } catch (error) {
      if (signal.aborted || error instanceof HttpError) throw error
      log.warn({ err: error, agent, conversation }, 'a request passes unjudged')
      return { advice: undefined, guest }
    }
  }

  async function ask(
    { agent, api, path }: JudgedRoute,
    incoming: IncomingMessage,
    outgoing: ServerResponse,
    {
      body,
      note,
      retry,
      sent,
      isChanged,
      reservation,
    }: Judged & { reservation: Reservation | undefined },
    signal: AbortSignal,
  ): Promise<void> {
    const headers = isChanged ? withoutEncoding(incoming.rawHeaders) : incoming.rawHeaders
    const send = (body: Buffer) => upstream.send({ method: 'POST', path, headers, body, signal })
    const sending = sendAdvised({ body, retry }, send, (status) =>
      log.info({ agent, status }, 'the upstream refuses tool_choice none'),
    )
    const { received, refusal } = await releasedWithoutAnswer(reservation, sending, track)
    if (refusal !== undefined) {
      relayWhole(received, refusal, outgoing, note)
      return
    }
    const isRead = sent !== undefined || reservation !== undefined
    const copy = isRead && received.statusCode === 200 ? copyOf(received) : undefined
    const relayed = relay(received, outgoing, note)
    if (copy !== undefined)
      track(
        copy.then(async (bytes) => {
          const round = Buffer.isBuffer(bytes) ? await roundIn(api, bytes, received.headers) : bytes
          if ('reason' in round)
            return log.info({ agent, reason: round.reason }, 'an answer is no round')
          await reservation?.settle(round.usage)
          if (sent !== undefined)
            await report(agent, api, incoming, sent.body, api.assembled(round))
        }),
      )
    await relayed
  }

  /**
   * Also requests that are not judged count. Undefined: no budget concerns it, or its guest cannot be
   * opened (PROXY-3). Throws 400 if a budget is reached.
   */
  async function reserved(
    { agent, api }: JudgedRoute,
    { headers }: IncomingMessage,
    { sent, bytes }: { sent: SentRequest | undefined; bytes: Buffer },
    guest: ProxiedConversation | undefined,
  ): Promise<Reservation | undefined> {
    const named = sent && identities.ofRequest(api, headers, sent.body)
    const { conversation, turn } = named ?? unnamedIdentity()
    const options = { turn, holds: false, hides: false }
    const opening = guest ?? conversationOf(agent, conversation, options)
    const own = await Promise.resolve(opening).catch((error: unknown) => {
      if (error instanceof HttpError) throw error
      log.warn({ err: error, agent }, 'a request of a guest passes without its budget')
    })
    if (own === undefined) return undefined
    const request = { format: api.format, body: sent?.body ?? bytes.toString('latin1') }
    return reserveRequest(own, request, { isNamed: named !== undefined, baseUrl: upstream.url })
  }

  async function report(
    agent: string,
    api: ProxyApi,
    { headers }: IncomingMessage,
    body: Json,
    answer: Json,
  ): Promise<void> {
    const { conversation, turn } = identities.ofAnswer(api, headers, body, answer)
    const session = sessionOf(headers)
    const holds = session !== undefined && sessions.hasHooks(session)
    const guest = await conversationOf(agent, conversation, { turn, holds, hides: false })
    const judged = { request: { format: api.format, body }, answer }
    const calls = callIdsIn(api, answer)
    if (!holds || calls.length === 0) await guest.afterModel(judged, { waitMs: 0 })
    else sessions.judging(session, calls, heldVerdicts(guest, Promise.resolve(judged)))
  }

  function endTurn(
    api: ProxyApi,
    { body }: SentRequest,
    advice: Advice,
    outgoing: ServerResponse,
  ): void {
    const isStreamed = body.stream === true
    const answer = Buffer.from(
      api.ownAnswer({
        id: `weir_${randomUUID()}`,
        model: typeof body.model === 'string' ? body.model : '',
        text: [advice.reason, advice.fallback || fallback]
          .filter((text) => text !== '')
          .join('\n\n'),
        isStreamed,
      }),
    )
    outgoing.writeHead(200, {
      'content-type': isStreamed ? 'text/event-stream' : 'application/json',
      'content-length': answer.length,
      'x-weir': noteOf(advice),
    })
    outgoing.end(answer)
  }

  function track(work: Promise<void>): void {
    const settled = work
      .catch((error: unknown) => log.warn({ err: error }, 'an answer was not judged'))
      .finally(() => reading.delete(settled))
    reading.add(settled)
  }

  return {
    routes(app) {
      app.all(
        agent === undefined ? '/proxy/:agent{[^/]+}/*' : '*',
        async ({ env: { incoming, outgoing } }) => {
          await answer(incoming, outgoing).catch((error: unknown) => {
            // The client left, or the answer broke on its way: no answer is possible any more.
            if (!outgoing.headersSent && !outgoing.destroyed) throw error
            outgoing.destroy()
          })
          return RESPONSE_ALREADY_SENT
        },
      )
    },
    async settled() {
      await Promise.all(reading)
    },
  }
}

/** Whether an answer may call a tool of the client. Titles and summaries may not. */
function mayCall(api: ProxyApi, sent: SentRequest | undefined): boolean {
  if (sent === undefined || api.isElsewhere(sent.body)) return true
  return api.hasTools(sent.body) || historyOf(api, sent.body).some(api.isCall)
}

/** With a veto, no call may pass where Weir does not look for it. */
function unknownPath(path: string): HttpError {
  return new HttpError(
    400,
    'proxy.path',
    `Weir does not know ${JSON.stringify(path.slice(0, 200))}, so it cannot judge the calls of the answer: use Messages, Chat Completions or Responses, or start the proxy without --veto`,
  )
}

/** `/proxy/{agent}` names another guest than the one at the root. */
function routeOf({ url = '/', method = 'GET' }: IncomingMessage, agentAtRoot = ''): Route {
  const [, named, rest] = /^\/proxy\/([^/?]+)(\/.*|\?.*|)$/s.exec(url) ?? []
  const path = named === undefined ? url : rest || '/'
  return { agent: named ?? agentAtRoot, path, answers: apiAt(method, path) }
}

/** Passes an answer on, byte for byte. A break of the connection reaches the client as a break. */
async function relay(
  received: IncomingMessage,
  outgoing: ServerResponse,
  note: string | undefined,
): Promise<void> {
  outgoing.writeHead(received.statusCode ?? 502, headersWith(received, note))
  outgoing.flushHeaders()
  await pipeline(received, outgoing)
}

function relayWhole(
  received: IncomingMessage,
  bytes: Buffer,
  outgoing: ServerResponse,
  note: string | undefined,
): void {
  outgoing.writeHead(received.statusCode ?? 502, headersWith(received, note))
  outgoing.end(bytes)
}

function headersWith(received: IncomingMessage, note: string | undefined): string[] {
  return [...answerHeaders(received), ...(note === undefined ? [] : ['x-weir', note])]
}
