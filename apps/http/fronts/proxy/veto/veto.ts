// The model proxy with a veto: the calls of an answer wait for their verdicts, and Weir answers a
// denied one itself. The client sees one valid answer.
// Owns: which requests are held, and the errors of those that cannot be.
// A request whose calls Weir cannot judge is refused before it goes to the model.
// An answer of the model whose calls are not held has `x-weir: not-held`.

import type { IncomingHttpHeaders, ServerResponse } from 'node:http'
import type { Logger } from 'pino'
import { type Clock, type Milliseconds, systemClock } from '../../../../../shared/lib/clock.ts'
import { WeirError } from '../../../../../shared/lib/errors.ts'
import type { Json } from '../../../../../shared/wire/format.ts'
import { canBeDenied, type ModelFormat } from '../../../../../shared/wire/proxied.ts'
import { HttpError } from '../../../http-error.ts'
import { notAnObject } from '../../../request-body.ts'
import type { SentRequest } from '../sent-request.ts'
import type { VetoedRequest, VetoShared } from './attempts.ts'
import { clientAnswer } from './client-answer.ts'
import { vetoRun } from './veto-run.ts'

/** How often a client that waits in a stream gets an event without content. */
const proxyPingMs = 10_000

/** `coversSubscriptions`: also requests that a person's subscription pays. */
export type VetoOptions = {
  coversSubscriptions: boolean
  /** Default `proxyPingMs`. */
  pingMs?: Milliseconds
  /** For the silence. Default: the machine's. */
  clock?: Clock
}

/** `sent` undefined: the body is no JSON object. */
export type VetoRequest = Pick<
  VetoedRequest,
  'agent' | 'path' | 'incoming' | 'bytes' | 'signal'
> & { api: ModelFormat; outgoing: ServerResponse; sent: SentRequest | undefined }

export type Veto = {
  /** Whether the calls of this client are held. */
  covers(headers: IncomingHttpHeaders): boolean
  /** Answers a request to a model. Throws an HttpError before the answer has begun. */
  answer(request: VetoRequest): Promise<void>
}

export function createVeto(
  { coversSubscriptions, pingMs = proxyPingMs, clock = systemClock }: VetoOptions,
  shared: Omit<VetoShared, 'clock'>,
): Veto {
  return {
    covers: (headers) => coversSubscriptions || !isOfSubscription(headers),
    async answer(request) {
      const { api, sent, outgoing } = request
      if (sent === undefined) throw notAnObject()
      if (!canBeDenied(api)) throw noStrictReading(api)
      checkRequest(api, sent.body)
      const client = clientAnswer(outgoing, api, { pingMs })
      const run = vetoRun({ ...shared, clock }, { ...request, api, sent, client })
      try {
        await run.answer()
      } catch (error) {
        if (request.signal.aborted) throw error
        client.fail(shownError(error, shared.log), run.attempts())
      } finally {
        client.close()
      }
    },
  }
}

/** The error that the client gets. An unforeseen one may hold secrets. */
function shownError(error: unknown, log: Logger): HttpError {
  if (error instanceof HttpError) return error
  if (error instanceof WeirError && error.code === 'guest.format')
    return new HttpError(400, error.code, error.message)
  log.error({ err: error }, 'an answer with a veto failed')
  return new HttpError(500, 'http.internal', 'Weir could not answer')
}

function noStrictReading({ request: { title } }: ModelFormat): HttpError {
  return new HttpError(
    400,
    'proxy.path',
    `Weir cannot hold the calls of ${title}: use an API that the guide lists, or start the proxy without --veto`,
  )
}

const historyElsewhere =
  'this request keeps its history or its answer at the provider (previous_response_id, conversation, prompt or background), so Weir cannot judge its calls: send the whole history'

/** Throws 400 for a request whose calls Weir cannot judge. */
function checkRequest({ request }: ModelFormat, body: Json): void {
  if (request.elsewhere(body) !== undefined) {
    const { unreadable = historyElsewhere } = request
    throw new HttpError(400, 'proxy.history', `${unreadable}, or start the proxy without --veto`)
  }
  if (Number(request.answers(body)) > 1)
    throw new HttpError(
      400,
      'proxy.choices',
      'this request asks for several answers (n), and Weir can judge one: leave n out, or start the proxy without --veto',
    )
}

/**
 * Whether a person's subscription pays for the request, and not an API key. Such traffic gets no repeats
 * of Weir's own unless the operator wants them. Reads the headers of Claude Code and Codex.
 */
function isOfSubscription(headers: IncomingHttpHeaders): boolean {
  const beta = `${headers['anthropic-beta'] ?? ''}`
  return (
    /^bearer\s+sk-ant-oat/i.test(headers.authorization ?? '') ||
    beta.split(',').some((one) => one.trim().startsWith('oauth-')) ||
    headers['chatgpt-account-id'] !== undefined
  )
}
