// The model proxy: a guest changes its base URL, and Weir judges the history of each request. In
// advice mode the bytes of every answer pass unchanged. The folder veto holds calls.
// Reads: requests of guests. Owns: the routes. Does not own: the judgement of a request
// (request-judge.ts), the way of its answer (answer-relay.ts).
// Without advice the bytes of a request pass unchanged.
// Without a veto an answer never waits for Weir: the round is read from a copy.
// Without a veto, a request that Weir cannot judge passes with `x-weir: unjudged` (R6), and
// counts (unjudged-tally.ts).
// No header of a client, and no text of an answer, enters a log line.
// No WebSocket passes: Weir could not judge its calls. Hosts fall back to HTTP.

import { randomUUID } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Advice } from '../../../../client/guard/guest-conversation.ts'
import { limits } from '../../../../shared/contract/limits.ts'
import { alternatives } from '../../../../shared/settings/mistake.ts'
import { wholeFormat } from '../../../../shared/wire/formats.ts'
import { type ModelFormat, proxiedFormats } from '../../../../shared/wire/proxied.ts'
import { alreadySent } from '../../direct-answer.ts'
import { HttpError } from '../../http-error.ts'
import { bytesOf } from '../../request-body.ts'
import type { HttpApp } from '../../server.ts'
import { noteOf } from './advised-request.ts'
import { type AnswerRelayOptions, createAnswerRelay, type ModelRoute } from './answer-relay.ts'
import { apiAt, isOfWeir, type Judgeable, missingQuery } from './apis.ts'
import { refuseSigned } from './aws/signed-requests.ts'
import { guestIdentities } from './identity/guest-identity.ts'
import { guestSessions } from './identity/guest-sessions.ts'
import {
  type ProxiedConversation,
  type ReservedRequest,
  reserveRequest,
  unnamedIdentity,
} from './request-budget.ts'
import { createRequestJudge } from './request-judge.ts'
import {
  answerBody,
  guestFormat,
  guestRequest,
  ownAnswer,
  readable,
  type SentRequest,
  sentRequest,
} from './sent-request.ts'
import { unjudgedKindOf } from './unjudged/unjudged-path.ts'
import { createUnjudgedTally } from './unjudged/unjudged-tally.ts'
import { createVeto, type VetoOptions } from './veto/veto.ts'

/** `sessions`: those whose calls hooks can hold. */
export type ProxyOptions = Pick<
  AnswerRelayOptions,
  'upstream' | 'conversationOf' | 'sessions' | 'log'
> & {
  /** Whether an operator named the guest. Default: none. */
  isNamed?: (agent: string) => boolean
  /** Undefined: calls are not held. */
  veto?: VetoOptions | undefined
  /** The guest at the root. Undefined: the root is not the proxy's. */
  agent: string | undefined
  /** The text for a guest's user when Weir ends a turn, if the advice has none. */
  fallback: string
}

export type ModelProxy = {
  /** With a guest at the root it takes all paths that have no other route: add it last. */
  routes(app: HttpApp): void
  /** Resolves once the rounds of all finished answers, and the counts, are with Weir. */
  settled(): Promise<void>
}

/** `path`: at the upstream, with the query. */
type Route = { agent: string; path: string; answers: Judgeable }

export function createProxy({
  upstream,
  conversationOf,
  sessions,
  isNamed,
  veto: vetoOptions,
  agent,
  fallback,
  log,
}: ProxyOptions): ModelProxy {
  const clients = guestSessions(log)
  const identities = guestIdentities(clients)
  const reading = new Set<Promise<void>>()
  const unjudged = createUnjudgedTally({ conversationOf, isNamed, log })
  const shared = { upstream, conversationOf, identities, clients, sessions, track, log }
  const judge = createRequestJudge({ ...shared, unjudged })
  const relay = createAnswerRelay(shared)
  const veto = vetoOptions && createVeto(vetoOptions, { ...shared, fallback })

  async function answer(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
    const { agent: name, path, answers } = routeOf(incoming, agent)
    if (isOfWeir(path)) throw new HttpError(404, 'http.path', 'unknown path')
    if (asksForWebSocket(incoming)) throw upgradeRefused()
    const gone = new AbortController()
    const isCovered = veto?.covers(incoming.headers) ?? false
    const isRelayed = answers.kind === 'api' && !isCovered
    outgoing.once('close', () => {
      // Nothing is left to stop once a relayed answer is out, and an abort is not cheap.
      if (!isRelayed || !outgoing.writableFinished) gone.abort()
    })
    if (answers.kind !== 'api') {
      const { method = 'GET' } = incoming
      if (isCovered && answers.kind !== 'no-calls') {
        const kind = unjudgedKindOf(method, path)
        unjudged.refuse(name, kind)
        throw await inFormOfKind(kind, unjudgedPath(method, path))
      }
      const isUnknown = answers.kind === 'unknown'
      if (isUnknown) unjudged.add(name, unjudgedKindOf(method, path))
      const note = noteWith(isUnknown ? 'unjudged' : undefined, isCovered)
      await relay.passThrough({ path, note, isCovered }, incoming, outgoing, gone.signal)
      return
    }
    const api = await wholeFormat(answers.api)
    await answerModel({ agent: name, path, api }, incoming, outgoing, gone.signal).catch(
      (error: unknown) => {
        gone.abort() // an answer of the upstream may be open, and Weir answers in its place
        throw inFormOf(api, error)
      },
    )
  }

  async function answerModel(
    route: ModelRoute,
    incoming: IncomingMessage,
    outgoing: ServerResponse,
    signal: AbortSignal,
  ): Promise<void> {
    const { path, api } = route
    if (!upstream.signs) refuseSigned(incoming.headers, upstream.url)
    const bytes = await bytesOf(incoming, limits.frontBodyBytesMax)
    const plain = await readable(bytes, incoming)
    const sent = plain && sentRequest(api, path, plain)
    if (veto?.covers(incoming.headers)) {
      await veto.answer({ ...route, incoming, outgoing, sent, bytes, signal })
      return
    }
    const { headers } = incoming
    const judged = await judge(route, { headers, bytes, sent, signal })
    if (judged.kind === 'end') {
      const { advice, conversation, guest } = judged
      const { body } = sent as SentRequest
      if (guest !== undefined) track(guest.endTurn())
      clients.ended({ ...route, headers, body }, conversation, advice.userText)
      endTurn(api, sent as SentRequest, { advice, fallback }, outgoing)
    } else {
      const reservation = await reserved(route, incoming, { sent, bytes }, judged.guest)
      const note = noteWith(judged.note, false)
      await relay.ask(route, incoming, outgoing, { ...judged, note, reservation }, signal)
    }
  }

  /**
   * Also requests that are not judged count, unless their guest cannot be opened. Throws 400
   * if a budget is reached.
   */
  async function reserved(
    { agent, api, path }: ModelRoute,
    { headers }: IncomingMessage,
    { sent, bytes }: { sent: SentRequest | undefined; bytes: Buffer },
    guest: ProxiedConversation | undefined,
  ): Promise<ReservedRequest> {
    // A judged request has its conversation already.
    const find = () => sent && identities.ofRequest({ agent, api, path, headers, body: sent.body })
    const named = guest === undefined ? find() : undefined
    const open = () =>
      conversationOf(agent, { ...(named ?? unnamedIdentity()), holds: false, hides: false })
    const opening = guest ?? open()
    const own = await Promise.resolve(opening).catch((error: unknown) => {
      if (error instanceof HttpError) throw error
      log.warn({ err: error, agent }, 'a request of a guest passes without its budget')
      return undefined
    })
    const request =
      sent === undefined
        ? { format: guestFormat(api), body: bytes.toString('latin1') }
        : guestRequest(api, headers, sent)
    const isNamed = guest !== undefined || named !== undefined
    const options = { isNamed, baseUrl: upstream.url, track }
    return reserveRequest(own, request, options)
  }

  function noteWith(note: string | undefined, isCovered: boolean): string | undefined {
    const isHeld = veto === undefined || isCovered
    return (
      [...(isHeld ? [] : ['not-held']), ...(note === undefined ? [] : [note])].join(', ') ||
      undefined
    )
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
          return alreadySent
        },
      )
    },
    async settled() {
      await Promise.all([...reading, unjudged.settled()])
    },
  }
}

/** Other upgrades, such as h2c, are offers: HTTP/1.1 answers them. */
function asksForWebSocket({ headers: { upgrade = '' } }: IncomingMessage): boolean {
  return upgrade.split(',').some((protocol) => protocol.trim().toLowerCase() === 'websocket')
}

function upgradeRefused(): HttpError {
  return new HttpError(
    426,
    'proxy.websocket',
    'Weir cannot judge the calls of a WebSocket: send this request with HTTP, streamed or not',
    { headers: { upgrade: 'HTTP/1.1', connection: 'upgrade, close' } },
  )
}

/** With a veto, no call may pass where Weir does not look for it. */
function unjudgedPath(method: string, path: string): HttpError {
  const query = missingQuery(path)
  const remedy = query === undefined ? `use ${titles}` : `add ?${query} to its address`
  return new HttpError(
    400,
    'proxy.path',
    `Weir cannot judge the calls in an answer to ${method} ${JSON.stringify(path.slice(0, 200))}: ${remedy}, or start the proxy without --veto`,
  )
}

const titles = alternatives(proxiedFormats.map(({ request }) => request.title))

/** The error as the clients of an API read it, if they read no other form. */
function inFormOf({ like, strict }: ModelFormat, error: unknown): unknown {
  if (like === undefined || strict === undefined || !(error instanceof HttpError)) return error
  const { status, code, message, headers, cause } = error
  const body = strict.error({ status, type: code, code, message })
  return new HttpError(status, code, message, { headers, cause, body })
}

/** Clients of Ollama and Bedrock read their own form on each path. */
async function inFormOfKind(kind: string, error: HttpError): Promise<unknown> {
  const api = proxiedFormats.find((format) => format.name === kind.toLowerCase())
  return api === undefined ? error : inFormOf(await wholeFormat(api), error)
}

/** `/proxy/{agent}` names another guest than the one at the root. */
function routeOf({ url = '/', method = 'GET' }: IncomingMessage, agentAtRoot = ''): Route {
  const [, named, rest] = /^\/proxy\/([^/?]+)(\/.*|\?.*|)$/s.exec(url) ?? []
  const path = named === undefined ? url : rest || '/'
  return { agent: named ?? agentAtRoot, path, answers: apiAt(method, path) }
}

/** Weir's own answer in place of the model's. */
function endTurn(
  api: ModelFormat,
  sent: SentRequest,
  { advice, fallback }: { advice: Advice; fallback: string },
  outgoing: ServerResponse,
): void {
  const { isStreamed, model } = sent
  const text = [advice.userText, advice.fallback || fallback]
    .filter((one) => one !== '')
    .join('\n\n')
  const own = ownAnswer(`weir_${randomUUID()}`, model, text)
  const answer = Buffer.from(answerBody(api, own, isStreamed))
  outgoing.writeHead(200, {
    'content-type': isStreamed ? api.stream.framing.type : 'application/json',
    'content-length': answer.length,
    'x-weir': noteOf(advice),
  })
  outgoing.end(answer)
}
