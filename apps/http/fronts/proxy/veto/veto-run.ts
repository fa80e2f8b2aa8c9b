// One request of a client under the veto, with its repeats to the model.
// Reads: answers of the upstream, verdicts, advice. Owns: the order in which the client gets them.
// VETO-RUN-1. No call reaches the client without a verdict `run`. If Weir cannot judge an answer, the
//     client gets an error (R6).
// VETO-RUN-2. One refused call hides the whole answer. Its other calls are reported as not run.
// VETO-RUN-3. Without a refusal, the bytes of the answer are those of the upstream.
// VETO-RUN-4. A client that leaves ends the request, the wait for verdicts, and the repeats.

import { randomUUID } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import type { Logger } from 'pino'
import type {
  Advice,
  CallVerdict,
  GuestAnswer,
  GuestConversation,
  GuestResult,
} from '../../../../../client/guard/guest-conversation.ts'
import type { Reservation } from '../../../../../services/llm-gateway/budgets/reservation.ts'
import { limits } from '../../../../../shared/contract/limits.ts'
import type { Milliseconds } from '../../../../../shared/lib/clock.ts'
import { HttpError } from '../../../http-error.ts'
import { bytesOf } from '../../../request-body.ts'
import type { HostSessions } from '../../hooks/host-sessions.ts'
import type { Json, ProxyApi, SentRequest } from '../api.ts'
import {
  callIdsIn,
  type GuestIdentities,
  type GuestIdentity,
  sessionOf,
} from '../guest-identity.ts'
import { advisedBytes, noteOf, sendAdvised, withoutEncoding } from '../judged-request.ts'
import {
  type ProxiedConversation,
  releasedWithoutAnswer,
  reserveRequest,
  unnamedIdentity,
} from '../request-budget.ts'
import { answerHeaders, type Upstream } from '../upstream.ts'
import { type Attempt, broken, readAttempt, watchSilence } from './attempt.ts'
import { attemptsHeader, type ClientAnswer } from './client-answer.ts'
import { repeatedRequest } from './repeated-request.ts'
import { usageSum, withUsage } from './usage-sum.ts'
import type { NotRun, VetoForm } from './veto-form.ts'

/** The parts that all requests of one server share. */
export type VetoShared = {
  upstream: Upstream
  conversationOf(agent: string, identity: GuestIdentity): Promise<ProxiedConversation>
  identities: GuestIdentities
  sessions: HostSessions
  /** The text that a guest's user gets when Weir ends a turn. */
  fallback: string
  log: Logger
  /** Work that the client does not wait for. */
  track(work: Promise<void>): void
  silenceMs: Milliseconds
}

/** `bytes`: the unchanged request. */
export type VetoRun = {
  agent: string
  api: ProxyApi
  path: string
  incoming: IncomingMessage
  sent: SentRequest
  bytes: Buffer
  signal: AbortSignal
  form: VetoForm
  client: ClientAnswer
  model: string
}

/** One request of a client, with its repeats. */
export function vetoRun(
  { upstream, conversationOf, identities, sessions, fallback, log, track, silenceMs }: VetoShared,
  { agent, api, path, incoming, sent, bytes, signal, form, client, model }: VetoRun,
): { answer(): Promise<void>; attempts(): number } {
  const { headers, rawHeaders } = incoming
  const session = sessionOf(headers)
  const isStreamed = sent.body.stream === true
  let attempts = 0
  /** JSON texts: the refused answers and their results. */
  const hidden: string[] = []
  let usage: Json | undefined
  let identity = identities.ofRequest(api, headers, sent.body)
  const isNamed = identity !== undefined
  let guest: ProxiedConversation | undefined

  async function answer(): Promise<void> {
    if (session !== undefined) sessions.sawProxy(session)
    if (identity !== undefined) guest = await conversationOf(agent, identity)
    let advice = guest === undefined ? undefined : await adviceOf(guest)
    for (;;) {
      if (advice?.rung === 'end')
        return ended(withFallback(advice.reason, advice.fallback), noteOf(advice))
      const before = client.stream.shownText().length
      const attempt = await ask(advice)
      if (attempt === undefined) return
      const { calls, text } = attempt.round
      if (form.calls(attempt.answer) !== calls.length)
        throw broken(`Weir can read ${calls.length} calls of ${form.calls(attempt.answer)}`)
      if (calls.length === 0) return passed(attempt, [])
      guest ??= await guestOf(attempt)
      const verdicts = await guest.afterModel(judged(attempt), { signal })
      if (verdicts.length === calls.length && verdicts.every(({ verdict }) => verdict === 'run'))
        return passed(attempt, verdicts)
      if (verdicts.length === 0 || verdicts.some(({ code }) => code === 'guest.unavailable'))
        throw noAnswer()
      log.info({ agent, conversation: identity?.conversation, attempts }, 'an answer is refused')
      const results = await refuse(guest, attempt, verdicts)
      const over = verdicts.find(({ code }) => code === 'guest.over')
      if (over !== undefined) return ended(withFallback(over.text), 'ended')
      if (attempts > limits.proxyRepeatsMax) {
        const isShown = client.stream.shownText().length > before
        const refused = `Weir has refused the calls of ${attempts} answers in a row.`
        return ended(isShown ? undefined : text || withFallback(refused), 'ended')
      }
      hidden.push(...form.repeated(attempt.answer, results, sent.body))
      advice = await adviceOf(guest)
    }
  }

  /** Throws 503 if Weir does not answer, 400 for a history that it cannot read. */
  async function adviceOf(judge: GuestConversation): Promise<Advice> {
    const late = AbortSignal.timeout(limits.proxyAdviceMs)
    const advice = await judge
      .beforeModel({ format: api.format, body: sent.body }, AbortSignal.any([signal, late]))
      .catch((error: unknown) => {
        if (signal.aborted || !late.aborted) throw error
        throw noAnswer()
      })
    if (!advice.judged) throw noAnswer(advice.reason)
    const { rung, rule, cap } = advice
    if (rung !== 'none')
      log.info({ agent, conversation: identity?.conversation, rung, rule, cap }, 'advice')
    return advice
  }

  /** Undefined: the client has the upstream's own error. */
  async function ask(advice: Advice | undefined): Promise<Attempt | undefined> {
    attempts += 1
    const reservation = await reserved()
    const silence = watchSilence(silenceMs)
    const send = (body: Buffer) =>
      upstream.send({
        ...{ method: 'POST', path, body, signal: AbortSignal.any([signal, silence.signal]) },
        headers: isChanged ? withoutEncoding(rawHeaders) : rawHeaders,
      })
    const isAdvised = advice !== undefined && advice.rung !== 'none'
    const isChanged = isAdvised || hidden.length > 0
    const request = repeatedRequest(api, sent, hidden)
    const unchanged = isChanged ? Buffer.from(request.text) : bytes
    try {
      const sending = sendAdvised(
        isAdvised ? advisedBytes(api, request, advice) : { body: unchanged, retry: undefined },
        send,
        (status) => log.info({ agent, status }, 'the upstream refuses tool_choice none'),
      )
      const { received, refusal } = await releasedWithoutAnswer(reservation, sending, track)
      const note = isAdvised ? ['x-weir', noteOf(advice)] : []
      const passedHeaders = [...answerHeaders(received), ...note]
      if (received.statusCode === 200) {
        const attempt = await readAttempt(api, received, client, {
          ...{ headers: withoutEncoding(passedHeaders), silence },
        })
        if (reservation !== undefined) track(reservation.settle(attempt.round.usage))
        return attempt
      }
      const body = refusal ?? (await bytesOf(received, limits.frontBodyBytesMax))
      if (client.hasBegun || isSuccess(received.statusCode))
        throw broken(`the upstream answers ${received.statusCode} to the repeat of a request`)
      client.whole(received.statusCode ?? 502, [...passedHeaders, ...attemptsNote()], body)
      return undefined
    } catch (cause) {
      if (signal.aborted || cause instanceof HttpError) throw cause
      if (silence.signal.aborted) throw tooSilent(silenceMs, { cause })
      throw broken('the answer was cut', { cause })
    } finally {
      silence.stop()
    }
  }

  /** Each repeat reserves again. Throws 400 if a budget is reached. */
  async function reserved(): Promise<Reservation | undefined> {
    const own = guest ?? (await conversationOf(agent, unnamedIdentity()))
    const request = { format: api.format, body: sent.body }
    return reserveRequest(own, request, { isNamed: identity !== undefined, baseUrl: upstream.url })
  }

  /** The conversation of a first request, which its answer names. */
  async function guestOf(attempt: Attempt): Promise<ProxiedConversation> {
    identity = identities.ofAnswer(api, headers, sent.body, api.assembled(attempt.round))
    return conversationOf(agent, identity)
  }

  function judged({ round }: Attempt, text = round.text): GuestAnswer {
    const answer = api.assembled({ ...round, text })
    return { request: { format: api.format, body: sent.body }, answer }
  }

  /** Keeps VETO-RUN-2. Returns the results for the model. */
  async function refuse(
    judge: GuestConversation,
    { answer }: Attempt,
    verdicts: readonly CallVerdict[],
  ): Promise<NotRun[]> {
    const spent = form.usage(answer)
    usage = usageSum(usage, spent)
    const closing = client.stream.refused(spent)
    if (client.hasBegun) await client.write(closing)
    const allowed = notRunIn(verdicts)
    if (allowed.length > 0) await judge.reportResults(allowed)
    return verdicts.map(({ callId, name, verdict, text }) => ({
      ...{ callId, name, text: verdict === 'refuse' ? text || notRunText : notRunText },
    }))
  }

  /** The answer reaches the client. */
  async function passed(attempt: Attempt, verdicts: readonly CallVerdict[]): Promise<void> {
    const assembled = api.assembled(attempt.round)
    const calls = callIdsIn(api, assembled)
    if (session !== undefined && calls.length > 0)
      sessions.judging(session, calls, { verdictAt: async (at) => verdicts[at] })
    if (attempt.answer.kind === 'streamed') {
      for (const block of attempt.held) await client.pass(block)
      client.end(attempts)
    } else {
      const text = withUsage(attempt.answer.text, ['usage'], sumWith(attempt))
      const body = usage === undefined ? attempt.bytes : Buffer.from(text)
      client.whole(200, [...attempt.headers, ...attemptsNote()], body)
    }
    const shown = client.stream.shownText() || attempt.round.text
    if (!isNamed && identity !== undefined)
      identities.goesOn(api, headers, sent.body, judged(attempt, shown).answer as Json, identity)
    if (verdicts.length === 0) track(report(judged(attempt, shown), attempt))
  }

  /** A text needs no verdict, so the client does not wait for it. */
  async function report(answer: GuestAnswer, attempt: Attempt): Promise<void> {
    guest ??= await guestOf(attempt)
    await guest.afterModel(answer, { waitMs: 0 })
  }

  function sumWith({ answer }: Attempt): Json | undefined {
    return usageSum(usage, form.usage(answer))
  }

  /** Weir's own end of the turn. `text` undefined: the client has the text already. */
  async function ended(text: string | undefined, note: string): Promise<void> {
    if (guest !== undefined) track(guest.endTurn())
    if (client.hasBegun || isStreamed) {
      client.begin(['content-type', 'text/event-stream', 'x-weir', note])
      await client.write(client.stream.ended(text))
      client.end(attempts)
      return
    }
    const id = `weir_${randomUUID()}`
    const own = api.ownAnswer({ id, model, text: text ?? '', isStreamed: false })
    const list = ['content-type', 'application/json', 'x-weir', note, ...attemptsNote()]
    client.whole(200, list, Buffer.from(withUsage(own, ['usage'], usage)))
    if (!isNamed && identity !== undefined)
      identities.goesOn(api, headers, sent.body, JSON.parse(own) as Json, identity)
  }

  function withFallback(reason: string, own = ''): string {
    return [reason, own || fallback].filter((part) => part !== '').join('\n\n')
  }

  const attemptsNote = () => [attemptsHeader, `${attempts}`]

  return { answer, attempts: () => attempts }
}

const notRunText =
  'Not run: another call of this response was refused. Make this call again if you still need it.'

/**
 * The calls that would have run, as failed: a call that was offered may have run elsewhere, so the
 * log never marks it as not run. The log has no repeat of a call.
 */
function notRunIn(verdicts: readonly CallVerdict[]): GuestResult[] {
  const seen = new Map<string, number>()
  return verdicts
    .filter(({ code }) => code !== 'guest.repeated')
    .flatMap(({ callId, verdict }) => {
      const nth = seen.get(callId) ?? 0
      seen.set(callId, nth + 1)
      return verdict === 'refuse' ? [] : [{ callId, nth, status: 'error', text: notRunText }]
    })
}

function isSuccess(status = 0): boolean {
  return status >= 200 && status < 300
}

function tooSilent(silenceMs: Milliseconds, options: ErrorOptions): HttpError {
  const text = `the upstream was silent for ${silenceMs / 1000} s: try again`
  return new HttpError(504, 'proxy.silence', text, options)
}

function noAnswer(reason = 'Weir did not answer in time'): HttpError {
  return new HttpError(
    503,
    'guest.unavailable',
    `Weir could not judge this request, so no call of its answer runs: ${reason}`,
  )
}
