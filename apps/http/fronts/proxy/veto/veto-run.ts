// One request of a client under the veto, with its repeats to the model.
// Reads: answers of the upstream, verdicts, advice. Owns: the order in which the client gets them.
// No call reaches the client without a verdict `allow`. If Weir cannot judge an answer, the
// client gets an error (R6).
// One denied call hides the whole answer. Its other calls are reported as not run.
// The client gets prints of the value that was judged, and no byte of the upstream.
// A client that leaves ends the request, the wait for verdicts, and the repeats.
// A request whose answers were all denied halves the repeats of the session's next one,
// until a call runs or the model answers in text. If a call is required, they get an error.

import { randomUUID } from 'node:crypto'
import type {
  Advice,
  CallVerdict,
  GuestConversation,
  GuestRequest,
  GuestResult,
  ReadGuestAnswer,
} from '../../../../../client/guard/guest-conversation.ts'
import { limits } from '../../../../../shared/contract/limits.ts'
import { senderOf } from '../../../../../shared/hosts/request-sender.ts'
import { occurrences } from '../../../../../shared/lib/text/occurrences.ts'
import { asSentence, onOneLine, shortened } from '../../../../../shared/lib/text-cut.ts'
import {
  deniedAnswers,
  noAnswerInTime,
  siblingRefused,
} from '../../../../../shared/model-texts/guests.ts'
import {
  callsOfAnswer,
  piecesOfAnswer,
  textOfAnswer,
  withText,
} from '../../../../../shared/wire/exchange.ts'
import type { Json } from '../../../../../shared/wire/format.ts'
import { ownAttempt } from '../../../../../shared/wire/strict/own-attempt.ts'
import type { NotRun } from '../../../../../shared/wire/strict/strict.ts'
import { usageSum } from '../../../../../shared/wire/strict/usage-sum.ts'
import { HttpError } from '../../../http-error.ts'
import { verdictNow } from '../../held-verdicts.ts'
import { noteOf } from '../advised-request.ts'
import { endWithoutModel, type GuestSession } from '../identity/guest-sessions.ts'
import { proxiedCalls } from '../proxied-calls.ts'
import type { ProxiedConversation } from '../request-budget.ts'
import { guestRequest, mayCall, ownAnswer } from '../sent-request.ts'
import {
  type Attempt,
  proxyAdviceMs,
  underVeto,
  upstreamAttempts,
  type VetoedRequest,
  type VetoShared,
} from './attempts.ts'

/** How often a proxy with a veto repeats one request after a denied answer. */
const proxyRepeatsMax = 3

/** One request of a client, with its repeats. */
export function vetoRun(
  shared: VetoShared,
  request: VetoedRequest,
): { answer(): Promise<void>; attempts(): number } {
  const { conversationOf, identities, clients, sessions, fallback, log, track } = shared
  const { agent, api, path, sent, signal, client } = request
  const { headers } = request.incoming
  const session = senderOf(headers)?.session
  const clientRequest = { agent, api, path, headers, body: sent.body }
  const { isStreamed } = sent
  const attempts = upstreamAttempts(shared, request)
  /** The denied answers and their results. */
  const hidden: Json[] = []
  let usage: Json | undefined
  let identity = identities.ofRequest(clientRequest)
  const isNamed = identity !== undefined
  /** No call is expected: a title, a summary. */
  const isAside = !mayCall(api, sent)
  const known = clients.find(clientRequest, identity?.conversation)
  const repeatsMax = repeatsFor(known)
  let guest: ProxiedConversation | undefined

  async function adviceOf(judge: GuestConversation): Promise<Advice> {
    const advice = await judgedAdvice(judge, guestRequest(api, headers, sent), signal)
    const { action, rule, cap } = advice
    if (action !== 'none')
      log.info({ agent, conversation: identity?.conversation, action, rule, cap }, 'advice')
    return advice
  }

  async function answer(): Promise<void> {
    if (session !== undefined) sessions.sawProxy({ agent, session })
    const end = endWithoutModel(known, clientRequest)
    if (end !== undefined && known !== undefined) {
      clients.denied(clientRequest, identity?.conversation ?? known.turn, end)
      throw new HttpError(400, 'guest.over', end)
    }
    if (identity !== undefined && !isAside)
      guest = await conversationOf(agent, { ...identity, ...underVeto })
    let advice = guest === undefined ? undefined : await adviceOf(guest)
    for (;;) {
      if (advice?.action === 'end') {
        if (identity !== undefined && attempts.count() === 0)
          clients.ended(clientRequest, identity.conversation, advice.userText)
        return ended(paragraphs(advice.userText, advice.fallback || fallback), noteOf(advice))
      }
      const shownBefore = client.stream.text().length
      const attempt = await attempts.ask({ advice, hidden, guest, isNamed: identity !== undefined })
      if (attempt === undefined) return
      const calls = callsOfAnswer(attempt.answer)
      const text = textOfAnswer(attempt.answer)
      if (calls.length === 0) return passed(attempt, [])
      guest ??= await guestOf(attempt)
      const verdicts = await guest.afterModel(judged(attempt), { signal })
      if (verdicts.length === calls.length && verdicts.every(({ verdict }) => verdict === 'allow'))
        return passed(attempt, verdicts)
      if (verdicts.length === 0 || verdicts.some(({ code }) => code === 'guest.unavailable'))
        throw noAnswer()
      log.info(
        { agent, conversation: identity?.conversation, attempts: attempts.count() },
        'an answer is denied',
      )
      const results = await deny(guest, attempt, verdicts)
      const over = verdicts.find(({ code }) => code === 'guest.over')
      if (over !== undefined) return ended(paragraphs(over.text, fallback), noteOfDenial(over))
      const denial = verdicts.find(({ verdict }) => verdict !== 'allow')
      if (denial !== undefined && attempts.count() > repeatsMax) {
        const isShown = client.stream.text().length > shownBefore
        const reason = denialText(attempts.count(), denial)
        if (identity !== undefined) clients.denied(clientRequest, identity.conversation, reason)
        const why = `${deniedAnswers(attempts.count())}, the last one as ${denial.code}`
        return ended(paragraphs(isShown ? '' : text, reason, fallback), noteOfDenial(denial), why)
      }
      hidden.push(...api.strict.repeated(attempt.answer, results, sent.body))
      advice = await adviceOf(guest)
    }
  }

  /** The conversation of a first request, which its answer names. */
  async function guestOf(attempt: Attempt): Promise<ProxiedConversation> {
    identity = identities.ofAnswer(clientRequest, api.answer.write(attempt.answer))
    return conversationOf(agent, { ...identity, ...underVeto })
  }

  function judged({ answer }: Attempt, text = textOfAnswer(answer)): ReadGuestAnswer {
    return {
      request: guestRequest(api, headers, sent),
      pieces: piecesOfAnswer(withText(answer, text)),
    }
  }

  /** Returns the results for the model. */
  async function deny(
    judge: GuestConversation,
    { answer }: Attempt,
    verdicts: readonly CallVerdict[],
  ): Promise<NotRun[]> {
    usage = usageSum(usage, answer.rawUsage)
    client.stream.denied(answer)
    const allowed = notRunIn(verdicts)
    if (allowed.length > 0) await judge.reportResults(allowed)
    return verdicts.map(({ callId, name, verdict, text }) => ({
      callId,
      name,
      text: verdict === 'deny' ? text || siblingRefused : siblingRefused,
    }))
  }

  /** The answer reaches the client. */
  async function passed(attempt: Attempt, verdicts: readonly CallVerdict[]): Promise<void> {
    const { answer, isStreamed: streams } = attempt
    const calls = callsOfAnswer(answer).map(({ id }) => id)
    if (session !== undefined && calls.length > 0)
      sessions.judging({ agent, session }, proxiedCalls(guestRequest(api, headers, sent), answer), {
        last: async (at) => verdicts[at] && verdictNow(guest, verdicts[at]),
      })
    if (streams) {
      await client.write(client.stream.rest(answer))
      client.end(attempts.count())
    } else {
      const body = api.strict.body(answer, usage && usageSum(usage, answer.rawUsage))
      client.whole(200, [...attempt.headers, ...attempts.header()], body)
    }
    if (isAside && calls.length === 0) return
    const shown = client.stream.text() || textOfAnswer(answer)
    if (!isNamed && identity !== undefined)
      identities.goesOn(clientRequest, api.answer.write(withText(answer, shown)), identity)
    if (identity !== undefined) clients.answered(clientRequest, identity.conversation, calls)
    if (verdicts.length === 0) track(report(judged(attempt, shown), attempt))
  }

  /** A text needs no verdict, so the client does not wait for it. */
  async function report(answer: ReadGuestAnswer, attempt: Attempt): Promise<void> {
    guest ??= await guestOf(attempt)
    await guest.afterModel(answer, { waitMs: 0 })
  }

  /** Weir's own end of the turn. `denial`: for the log, if denied calls are the reason. */
  async function ended(text: string, note: string, denial?: string): Promise<void> {
    if (guest !== undefined) track(guest.endTurn(denial))
    const answer = ownAnswer(`weir_${randomUUID()}`, sent.model, text)
    if (client.hasBegun || isStreamed) {
      client.begin(['x-weir', note])
      await client.write(ownAttempt(api, client.stream, answer))
      client.end(attempts.count())
      return
    }
    const written = api.answer.write(answer)
    const own = usage === undefined ? written : api.answer.counted(written, usage)
    const list = ['content-type', 'application/json', 'x-weir', note, ...attempts.header()]
    client.whole(200, list, own)
    if (!isNamed && identity !== undefined) identities.goesOn(clientRequest, own, identity)
  }

  return { answer, attempts: attempts.count }
}

/** The repeats of a request: fewer after denied requests. */
function repeatsFor(session: GuestSession | undefined): number {
  return Math.floor(proxyRepeatsMax / 2 ** (session?.denied ?? 0))
}

/**
 * The calls that would have run, as failed: a call that was offered may have run elsewhere, so the
 * log never marks it as not run. The log has no repeat of a call.
 */
function notRunIn(verdicts: readonly CallVerdict[]): GuestResult[] {
  const before = occurrences()
  return verdicts
    .filter(({ code }) => code !== 'guest.repeated')
    .flatMap(({ callId, verdict }) => {
      const nth = before(callId)
      return verdict === 'deny' ? [] : [{ callId, nth, status: 'error', text: siblingRefused }]
    })
}

/** Throws 503 if Weir does not answer, 400 for a history that it cannot read. */
async function judgedAdvice(
  judge: GuestConversation,
  request: GuestRequest,
  signal: AbortSignal,
): Promise<Advice> {
  const late = AbortSignal.timeout(proxyAdviceMs)
  const advice = await judge
    .beforeModel(request, AbortSignal.any([signal, late]))
    .catch((error: unknown) => {
      if (signal.aborted || !late.aborted) throw error
      throw noAnswer()
    })
  if (!advice.judged) throw noAnswer(advice.reason)
  return advice
}

function paragraphs(...texts: string[]): string {
  return texts.filter((text) => text !== '').join('\n\n')
}

/** For the user: the tool, the rule and the reason of the newest denial. */
function denialText(answers: number, { name, code, text, reason }: CallVerdict): string {
  const isBroken = code === 'call.denied' // whose text tells the model how to correct the call
  const why = (isBroken && reason) || text || reason || ''
  const [tool, cause] = [name, why].map((part) => shortened(onOneLine(part), limits.reasonBytesMax))
  return `${deniedAnswers(answers)}. The last refusal: ${tool} (${code}), ${asSentence(`${cause}`)}`
}

function noteOfDenial({ code }: CallVerdict): string {
  return noteOf({ action: 'end', rule: code, cap: null })
}

function noAnswer(reason = noAnswerInTime): HttpError {
  return new HttpError(
    503,
    'guest.unavailable',
    `Weir could not judge this request, so no call of its answer runs: ${reason}`,
  )
}
