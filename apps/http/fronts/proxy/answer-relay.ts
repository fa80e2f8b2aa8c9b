// Sends requests of guests to the upstream, and relays the answers to their clients, without a veto.
// Reads: answers of the upstream. Owns: the rounds that are read from copies.

import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Logger } from 'pino'
import type { ReadGuestAnswer } from '../../../../client/guard/guest-conversation.ts'
import { limits } from '../../../../shared/contract/limits.ts'
import { senderOf } from '../../../../shared/hosts/request-sender.ts'
import {
  answerOf,
  callsOfAnswer,
  type ModelAnswer,
  piecesOfAnswer,
} from '../../../../shared/wire/exchange.ts'
import type { ModelFormat } from '../../../../shared/wire/proxied.ts'
import { heldVerdicts } from '../held-verdicts.ts'
import type { HostSessions } from '../hooks/host-sessions.ts'
import { sendAdvised, withoutEncoding } from './advised-request.ts'
import { answerCopy, roundIn } from './answer-copy.ts'
import type { GuestIdentities } from './identity/guest-identity.ts'
import type { GuestSessions } from './identity/guest-sessions.ts'
import { proxiedCalls } from './proxied-calls.ts'
import type { ConversationOf, ReservedRequest } from './request-budget.ts'
import type { JudgedRequest } from './request-judge.ts'
import { guestRequest, type SentRequest } from './sent-request.ts'
import { answerHeaders, listedHeaders, redirected, type Upstream } from './upstream.ts'

/** A request to the API of a model. `path`: at the upstream, with the query. */
export type ModelRoute = { agent: string; path: string; api: ModelFormat }

export type AnswerRelayOptions = {
  upstream: Upstream
  conversationOf: ConversationOf
  identities: GuestIdentities
  clients: GuestSessions
  sessions: HostSessions
  /** Work that the client does not wait for. */
  track(work: Promise<void>): void
  log: Logger
}

export function createAnswerRelay({
  upstream,
  conversationOf,
  identities,
  clients,
  sessions,
  track,
  log,
}: AnswerRelayOptions) {
  return { ask, passThrough }

  /** Sends a request to a model. Its answer becomes a round of its conversation. */
  async function ask(
    { agent, api, path }: ModelRoute,
    incoming: IncomingMessage,
    outgoing: ServerResponse,
    {
      body,
      note,
      retry,
      sent,
      isChanged,
      reservation,
    }: JudgedRequest & { reservation: ReservedRequest },
    signal: AbortSignal,
  ): Promise<void> {
    const headers = isChanged ? withoutEncoding(incoming.rawHeaders) : incoming.rawHeaders
    const model = sent?.model ?? ''
    const send = (body: Buffer) =>
      upstream.send({ method: 'POST', path, headers, body, signal, model })
    const { received, refusal } = await reservation.sent(
      sendAdvised({ body, retry }, send, { agent, log }),
    )
    if (refusal !== undefined) {
      relayWhole(received, refusal, outgoing, note)
      return
    }
    const isRead = sent !== undefined || reservation.isCounted
    const copy = isRead && received.statusCode === 200 ? answerCopy() : undefined
    const passed = [...answerHeaders(received), ...noted(note)]
    const { arrived, relayed } = relay(received, outgoing, passed, copy?.add)
    if (copy !== undefined)
      track(
        arrived.then(async (isWhole) => {
          const bytes = isWhole ? copy.whole() : { reason: 'the answer was cut' }
          const round = Buffer.isBuffer(bytes) ? await roundIn(api, bytes, received.headers) : bytes
          if ('reason' in round)
            return log.info({ agent, reason: round.reason }, 'an answer is no round')
          await reservation.settle(round.usage)
          if (sent !== undefined)
            await report({ agent, api, path }, incoming, sent, answerOf(round))
        }),
      )
    await relayed
  }

  async function report(
    { agent, api, path }: ModelRoute,
    { headers }: IncomingMessage,
    sent: SentRequest,
    answer: ModelAnswer,
  ): Promise<void> {
    const request = { agent, api, path, headers, body: sent.body }
    const identity = identities.ofAnswer(request, api.answer.write(answer))
    const session = senderOf(headers)?.session
    const holds = session !== undefined && sessions.hasHooks(session)
    const guest = await conversationOf(agent, { ...identity, holds, hides: false })
    const own = guestRequest(api, headers, sent)
    const judged: ReadGuestAnswer = { request: own, pieces: piecesOfAnswer(answer) }
    const calls = callsOfAnswer(answer).map(({ id }) => id)
    clients.answered(request, identity.conversation, calls)
    if (!holds || calls.length === 0) await guest.afterModel(judged, { waitMs: 0 })
    else
      sessions.judging(
        { agent, session },
        proxiedCalls(own, answer),
        heldVerdicts(guest, judged, limits.guestHoldMs),
      )
  }

  /** `note`: the value of the header `x-weir`. `isCovered`: only listed headers pass, and no redirect. */
  async function passThrough(
    { path, note, isCovered }: { path: string; note: string | undefined; isCovered: boolean },
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
    const { statusCode: status = 502 } = received
    if (isCovered && status !== 304 && status >= 300 && status < 400) throw redirected(upstream.url)
    const passed = isCovered ? listedHeaders(received, { hasBody: true }) : answerHeaders(received)
    await relay(received, outgoing, [...passed, ...noted(note)]).relayed
  }
}

/**
 * `arrived`: whether the whole answer has arrived, once it is over. `relayed`: once the client has it;
 * rejects if a connection broke.
 */
type Relayed = { arrived: Promise<boolean>; relayed: Promise<void> }

/**
 * Passes an answer on, byte for byte. A break of the connection reaches the client as a break. Pieces
 * that arrive in one turn of the event loop are one write, together with the head. Not `pipeline`, which
 * writes each of them.
 */
function relay(
  received: IncomingMessage,
  outgoing: ServerResponse,
  headers: string[],
  onPiece: (piece: Buffer) => void = () => {},
): Relayed {
  const arrived = Promise.withResolvers<boolean>()
  const relayed = Promise.withResolvers<void>()
  outgoing.writeHead(received.statusCode ?? 502, headers)
  const head = setImmediate(() => outgoing.flushHeaders())

  function pass(): void {
    while (!outgoing.destroyed && !outgoing.writableNeedDrain) {
      const piece: Buffer | null = received.read()
      if (piece === null) return
      clearImmediate(head)
      onPiece(piece)
      // The end of the answer goes out with its last piece.
      if (received.complete && received.readableLength === 0) outgoing.end(piece)
      else outgoing.write(piece)
    }
  }

  function fail(error: Error): void {
    clearImmediate(head)
    arrived.resolve(false)
    relayed.reject(error)
    received.destroy()
    outgoing.destroy()
  }

  received
    .on('readable', pass)
    .once('end', () => {
      arrived.resolve(true)
      clearImmediate(head)
      if (!outgoing.writableEnded) outgoing.end()
    })
    .once('error', fail)
    .once('close', () => {
      if (!received.readableEnded) fail(new Error('the answer was cut'))
    })
  outgoing
    .on('drain', pass)
    .once('finish', () => relayed.resolve())
    .once('error', fail)
    .once('close', () => {
      if (!outgoing.writableFinished) fail(new Error('the client has left'))
    })
  // Closed already: no further event comes.
  if (received.closed) fail(new Error('the answer was cut'))
  else if (outgoing.closed) fail(new Error('the client has left'))
  return { arrived: arrived.promise, relayed: relayed.promise }
}

function relayWhole(
  received: IncomingMessage,
  bytes: Buffer,
  outgoing: ServerResponse,
  note: string | undefined,
): void {
  outgoing.writeHead(received.statusCode ?? 502, [...answerHeaders(received), ...noted(note)])
  outgoing.end(bytes)
}

function noted(note: string | undefined): string[] {
  return note === undefined ? [] : ['x-weir', note]
}
