// A conversation of a guest in one front, on top of the records (front.ts): requests and answers in
// a known format become rounds, and records become advice and verdicts. Memory only names a round that
// no request shows. Without it, a result belongs to the round with such a call.
// A call runs only after a verdict on its own round, unless Weir does not answer and
// the front may then run it (R6). A front that only observes runs every call.
// A front that gives up on a waiting call reports it as not run, so no approval
// stays open for it.
// An object names the turn of its last request only, because another front may have
// opened a newer one. Otherwise a record means the newest turn.
// Some histories do not show an empty response, others no calls at all. A front counts
// such a response after the one before it, and names it in the next request, so each is judged.
// A history may show fewer rounds with the words of an answer than there were, because
// its host drops or rewrites them. A front that hides counts on after those that are over.

import { hash } from 'node:crypto'
import type { Reservation } from '../../services/llm-gateway/performer/budgets/reservation.ts'
import type { Guest } from '../../shared/agents/guest.ts'
import type { CallEnding } from '../../shared/contract/call/call-endings.ts'
import type { ConversationId } from '../../shared/contract/ids.ts'
import { limits } from '../../shared/contract/limits.ts'
import type {
  Response,
  GuestResult as ResultRecord,
  UnjudgedRequests,
  Usage,
} from '../../shared/contract/messages.ts'
import type { HistoryPlace } from '../../shared/contract/performer.ts'
import { guestConversation, newestTurn } from '../../shared/contract/topology.ts'
import { hostNamed } from '../../shared/hosts/hosts.ts'
import type { Milliseconds } from '../../shared/lib/clock.ts'
import { WeirError } from '../../shared/lib/errors.ts'
import { isObject } from '../../shared/lib/json/json-object.ts'
import type { WorkLog } from '../../shared/lib/log/lazy-log.ts'
import { newest } from '../../shared/lib/newest.ts'
import { occurrences } from '../../shared/lib/text/occurrences.ts'
import { cutToBytes } from '../../shared/lib/text-cut.ts'
import * as texts from '../../shared/model-texts/guests.ts'
import { endedForUser } from '../../shared/model-texts/user-texts.ts'
import { stopOfCall, stoppedCall } from '../../shared/runtime/settings/stops.ts'
import { alternatives, kindOf, shown } from '../../shared/settings/mistake.ts'
import { canonicalArguments, roundKey, type Words } from '../../shared/transcript/round-key.ts'
import type { Failed } from '../../shared/wire/exchange.ts'
import { adviceEdits, withEdits } from './advice-edits.ts'
import { checkRequest, contentOf, formatError } from './formats.ts'
import {
  type Front,
  finalKey,
  type GuestTurn,
  type HiddenCounts,
  hiddenCountsOf,
  ofRound,
  overCountsOf,
  type ReceivedAdvice,
  type RoundVerdicts,
  type SentRound,
} from './front.ts'
import type { GuardOptions } from './guard-options.ts'
import type {
  Advice,
  AnyGuestRequest,
  CallVerdict,
  GuestAnswer,
  GuestConversation,
  GuestResult,
} from './guest-conversation.ts'
import {
  answeredRound,
  asHostReads,
  type GuestHistory,
  type HistoryRound,
  historyReader,
  newestResultIn,
  responseOf,
  toolsFor,
} from './history/history.ts'
import type { GuestBudgets } from './log/guest-budgets.ts'
import type { GuestPlaces } from './log/guest-places.ts'
import { codeOfDenial, codeOfWait } from './verdict-code.ts'

export type ThreadOptions = {
  /** As in GuestPlaceOptions. */
  parent?: string | undefined
  root?: string | undefined
  /** The front's name for the turn. Default: made from the history. */
  turn?: string | undefined
  /**
   * The front answers denied rounds itself, so the guest's history never shows them (G12). Use one
   * object for a request of the guest and the front's own repeats of it.
   */
  hides?: boolean
  /** No request shows the rounds of this turn. Each answer is a round after the one before it. */
  isUnshown?: boolean | undefined
  /** The secrets of the client's request, such as its key. Its records hide them. */
  secrets?: (() => readonly string[]) | undefined
}

/**
 * `reserve`: a request is reserved before it is made and settled by its answer. `look`: the front sees
 * no requests, so it gets the advice `end` once a budget is reached. `own`: the front calls `reserve`
 * itself.
 */
export type BudgetCounting = 'reserve' | 'look' | 'own'

/** A conversation whose front may send the guest's requests itself. */
export type GuestThread = GuestConversation & {
  /**
   * For a front that passes a verdict on later: the verdict, or the denial by a stop that an operator
   * has set since. Rejects if the stops cannot be read.
   */
  verdictNow(verdict: CallVerdict): Promise<CallVerdict>
  /**
   * Call it right before the request goes to the model. A failure: it must not. Undefined: no budget
   * concerns it. `isNamed` false: nothing names the conversation yet. Ends the turn that a budget
   * refuses.
   */
  reserve(
    request: AnyGuestRequest,
    options?: { isNamed?: boolean; baseUrl?: string | undefined },
  ): Promise<Reservation | Failed | undefined>
  /** Counts requests of the guest that passed unjudged. They belong to no turn. */
  reportUnjudged(requests: UnjudgedRequests[]): Promise<void>
}

/** A request under budgets. `words`: the request, hashed. `reservation` undefined: it is settled. */
type Reserved = { words: string; reservation: Reservation | undefined }

/** Of one conversation. An older one without an answer counts in full. */
const reservedMax = 16

/** The newest response that no request shows. `isOver`: a request has come since. */
type Silence = { turnKey: string; words: string; n: number; isOver: boolean }

/**
 * The answer that has the verdicts of a round. `calls`: the places of those that it may run.
 * `inTree`: calls that a tree has counted. `isSettled`: all calls are decided.
 */
type Given = {
  owner: WeakRef<object> | undefined
  calls: ReadonlySet<number>
  inTree: ReadonlySet<number>
  isSettled: boolean
}

const notGiven: Given = { owner: undefined, calls: new Set(), inTree: new Set(), isSettled: false }

type HostRound = { number: HistoryPlace; host: string | undefined; sent: SentRound }
type DecidedRound = { key: string; mayRun: ReadonlySet<number>; place?: GuestTurn }

/** Makes the conversations of one front. */
export type Threads = (id: ConversationId, options: ThreadOptions) => GuestThread

export type ThreadsOptions = {
  front: Front
  /** Undefined: no budget counts. */
  budgets?: GuestBudgets
  /** Undefined: no cap of a tree holds, and no call is compared with other conversations. */
  places?: GuestPlaces
  /** Default `reserve`. */
  counting?: BudgetCounting | undefined
  /** Whether an equal answer gets `guest.repeated`. Default: if the front does not reserve. */
  givesOnce?: boolean | undefined
  agent: Guest
  blocking: boolean
  /** Whether calls are denied when Weir does not answer. */
  refuses: boolean
  waitMs: Milliseconds
  log: Pick<WorkLog, 'warn'>
}

/** The defaults of a front, as for `openGuard`. */
export function waitingOf({
  mode = 'blocking',
  onUnavailable = mode === 'blocking' ? 'deny' : 'allow',
  answerWithinMs = mode === 'blocking' ? limits.guestHoldMs : limits.guestAdviceMs,
}: Pick<GuardOptions, 'mode' | 'onUnavailable' | 'answerWithinMs'>): Pick<
  ThreadsOptions,
  'blocking' | 'refuses' | 'waitMs'
> {
  const refuses = onUnavailable === 'deny'
  return { blocking: mode === 'blocking', refuses, waitMs: answerWithinMs }
}

export function createThreads({
  front,
  budgets,
  places,
  counting = 'reserve',
  givesOnce = counting !== 'reserve',
  agent,
  blocking,
  refuses,
  waitMs: waitMsDefault,
  log,
}: ThreadsOptions): Threads {
  /** Calls that models have sent. `sent`: the hash of the arguments, for the record only. */
  const sentCalls = newest<{ key: string; sent: string }>(limits.guestsOpenMax)
  const silences = newest<Silence>(limits.guestsOpenMax)
  /** The answers that have the verdicts of rounds. */
  const given = newest<Given>(limits.guestsOpenMax)
  const histories = historyReader()
  /** The last round of each conversation whose results an answered request has shown. */
  const shownUpTo = newest<string>(limits.guestsOpenMax)
  /** The last round of each conversation whose calls have ended their reservations, and its results. */
  const endedUpTo = newest<string>(limits.guestsOpenMax)
  /** The last requests of each conversation, the newest last. */
  const reserved = newest<Reserved[]>(limits.guestsOpenMax)

  return (id, { turn, hides = false, isUnshown = false, secrets }) => {
    let hidden: HiddenCounts = new Map()
    let over: HiddenCounts = new Map()
    const hiddenKeys: string[] = []
    /** The turn of a record without a history. */
    let lastTurn: GuestTurn = {
      conversation: id,
      user: null,
      turnKey: turn === undefined ? newestTurn : nameOf(turn),
      secrets,
    }

    function turnIn({ turnKey, user }: Omit<GuestTurn, 'conversation'>): GuestTurn {
      lastTurn = { ...lastTurn, turnKey: turn === undefined ? turnKey : nameOf(turn), user }
      return lastTurn
    }

    function silenceIn({ turnKey }: GuestTurn): Silence | undefined {
      const silence = silences.get(id)
      return silence?.turnKey === turnKey ? silence : undefined
    }

    /** The count of such a response. `shown`: by the rounds of its history. */
    function silenceAfter(place: GuestTurn, words: string, shown: number): number {
      const last = silenceIn(place)
      const n = last === undefined ? shown : Math.max(shown, last.n + Number(last.isOver))
      silences.set(id, { turnKey: place.turnKey, words, n, isOver: false })
      return n
    }

    function callName({ callId }: Pick<GuestResult, 'callId'>): string {
      return JSON.stringify([id, callId])
    }

    function resultsIn({ results }: HistoryRound): ResultRecord[] {
      return results.map((result) => withChange(result, sentCalls.get(callName(result))?.sent))
    }

    /** The turn of the next request. Undefined: no request was judged. */
    let current: { turn: number; round: number } | undefined

    const reserve: GuestThread['reserve'] = async (request, { isNamed = true, baseUrl } = {}) => {
      const made = await budgets?.reserve({
        conversation: id,
        place: current,
        isNamed,
        baseUrl,
        request: counting === 'look' ? undefined : request,
        onReached: (reached) => front.report(lastTurn, { results: [], phase: 'running', reached }),
      })
      if (made?.kind === 'failed' && made.code === 'budget.reached' && current !== undefined)
        await front
          .report(lastTurn, { results: [], phase: 'turn_end', refusal: made.reason })
          .catch((error: unknown) => log.warn({ err: error }, 'an end of a turn was not reported'))
      return made
    }

    /** The failure of a request that must not start. A repeat of an unanswered one is reserved. */
    async function reserveBeforeModel(request: AnyGuestRequest): Promise<Failed | undefined> {
      if (budgets === undefined || counting === 'own') return undefined
      const words = wordsOf(request)
      if (reserved.get(id)?.some((one) => one.words === words && isOpen(one))) return undefined
      const made = await reserve(request)
      if (made?.kind === 'failed') return made
      if (made !== undefined && counting === 'look') await made.release()
      else if (made !== undefined) {
        const others = reserved.get(id) ?? []
        reserved.set(id, [...others.slice(1 - reservedMax), { words, reservation: made }])
      }
      return undefined
    }

    /**
     * Settles the reservation of this request once, because a front sends an answer several times. One
     * that changes its requests in between has the newest settled.
     */
    async function settle(request: AnyGuestRequest, usage: Usage): Promise<void> {
      const all = reserved.get(id) ?? []
      if (!all.some(isOpen)) return
      const words = wordsOf(request)
      const same = all.filter((one) => one.words === words)
      const own = (same.length > 0 ? same : all).findLast(isOpen)
      const reservation = own?.reservation
      if (own === undefined || reservation === undefined) return
      own.reservation = undefined
      await reservation.settle(usage)
    }

    async function giveUp(place: GuestTurn, round: SentRound, calls: CallVerdict[]): Promise<void> {
      const before = occurrences()
      const results = calls.flatMap(({ callId, verdict, code }) => {
        const nth = before(callId)
        // The owner of a claim reports the call, and the first result counts.
        return verdict === 'allow' || code === denials.givenBefore.code
          ? []
          : [resultRecord({ callId, nth, status: 'skipped', text: '' }, round.key)]
      })
      if (results.length === 0) return
      await front
        .report(place, { results, phase: 'running' })
        .catch((error: unknown) => log.warn({ err: error }, 'an end of a wait was not reported'))
    }

    /**
     * The verdicts as this answer gets them. An answer whose last call waits may come again as
     * another object. `number`: of the round.
     */
    async function givenTo(
      answer: object,
      verdicts: CallVerdict[],
      { number, host, sent, ...round }: Omit<DecidedRound, 'mayRun'> & HostRound,
    ): Promise<CallVerdict[]> {
      const name = `${id} ${number.turn} ${number.round}`
      const last = given.get(name) ?? notGiven
      if (givesOnce && last.isSettled && last.owner?.deref() !== answer)
        return verdicts.map(withoutAllow)
      const claim: Given = {
        owner: new WeakRef(answer),
        calls: new Set([...last.calls, ...allowedIn(verdicts)]),
        inTree: last.inTree,
        isSettled: last.isSettled || verdicts.every(({ verdict }) => verdict !== 'pending'),
      }
      given.set(name, claim) // before the stops are read: an equal answer may come meanwhile
      try {
        const decided = { ...round, mayRun: last.calls }
        const going = await withStops(verdicts, decided)
        const now = await withPlaces(going, { ...decided, inTree: last.inTree, number, host, sent })
        claim.inTree = new Set([...last.inTree, ...allowedIn(now)])
        claim.calls = new Set([...last.calls, ...allowedIn(now)])
        return now
      } catch (error) {
        if (given.get(name) === claim) given.set(name, last)
        throw error
      }
    }

    /** A repeated request ends nothing again: a later round may have a call with the same id. */
    async function endPlaces(of: GuestPlaces, round: HistoryRound | undefined): Promise<void> {
      const results = round?.results ?? []
      const shown = `${round?.key} ${results.length}`
      if (endedUpTo.get(id) === shown) return
      endedUpTo.set(id, shown)
      for (const result of results) await of.ended(id, result)
    }

    async function withStops(verdicts: CallVerdict[], round: DecidedRound): Promise<CallVerdict[]> {
      if (allowedIn(verdicts).length === 0) return verdicts
      const stops = await front.stops(id)
      return withDenials(verdicts, round, ({ name }) => {
        const stop = stopOfCall(stops, name)
        return stop && stoppedCall(stop, false)
      })
    }

    /** Denies children above the caps of their tree, and calls that must not run twice in the tenant. */
    async function withPlaces(
      verdicts: CallVerdict[],
      { number, host, sent, inTree, ...round }: DecidedRound & HostRound & Pick<Given, 'inTree'>,
    ): Promise<CallVerdict[]> {
      const of = { conversation: id, ...number, host, sent, inTree }
      const denials = await places?.denialsIn(verdicts, of)
      if (denials === undefined) return verdicts
      return withDenials(verdicts, round, (_, at) => denials.get(at))
    }

    /** `denialOf`: of an allowed call. `key`: of the round. `mayRun`: the calls that the agent may run already. */
    async function withDenials(
      verdicts: CallVerdict[],
      { key, mayRun, place = lastTurn }: DecidedRound,
      denialOf: (own: CallVerdict, at: number) => CallEnding | undefined,
    ): Promise<CallVerdict[]> {
      const nthOf = occurrences()
      const results: ResultRecord[] = []
      const now = verdicts.map((own, at): CallVerdict => {
        const { callId, name, verdict } = own
        const nth = nthOf(callId)
        const denial = verdict === 'allow' ? denialOf(own, at) : undefined
        if (denial === undefined) return own
        const { text, reason } = denial
        // The log has offered the call, so it may have run elsewhere: it is never `skipped`.
        if (!mayRun.has(at)) results.push(resultRecord({ callId, nth, status: 'error', text }, key))
        return { callId, name, verdict: 'deny', text, code: 'call.denied', reason }
      })
      if (results.length > 0)
        await front
          .report(place, { results, phase: 'running' })
          .catch((error: unknown) => log.warn({ err: error }, 'a denied call was not reported'))
      return now
    }

    return {
      async beforeModel(request, signal) {
        checkRequest(request, 'beforeModel')
        const history = histories.read(id, request)
        const rounds = history.rounds.map((round) => ({
          key: round.key,
          get results() {
            return resultsIn(round)
          },
          make: () => ({
            response: responseOf(round.spoken, round.key),
            ...toolsFor(round.spoken, history.tools, agent.hints, pollersOf(request)),
          }),
        }))
        const former = history.former && {
          prompt: history.former.turnKey,
          keys: history.former.rounds.map(({ key }) => key),
          results: history.former.rounds.slice(-1).flatMap(resultsIn),
        }
        if (places !== undefined) await endPlaces(places, history.rounds.at(-1))
        const place = turnIn(history)
        const silence = silenceIn(place)
        const unseen = silence && roundKey(silence.words, silence.n)
        if (silence !== undefined) silence.isOver = true
        try {
          const received = await front.beforeModel(
            place,
            {
              rounds,
              hiddenKeys: [...hiddenKeys, ...(unseen === undefined ? [] : [unseen])],
              prompt: history.turnKey,
              former,
            },
            { waitMs: waitMsDefault, signal },
          )
          if (received === undefined) return unjudged(request, texts.noAnswerInTime)
          shownUpTo.set(id, rounds.at(-1)?.key ?? '')
          hidden = hiddenCountsOf(received.advice.hidden)
          if (hides) over = overCountsOf(received.advice.over)
          const { turn: open, round } = received.advice
          current = open < 0 ? undefined : { turn: open, round: round + 1 }
          const { fallback } = agent.settings
          const advice = adviceFrom(request, received, { fallback, history })
          const refused = advice.action === 'end' ? undefined : await reserveBeforeModel(request)
          return refused === undefined ? advice : budgetAdvice(request, refused, fallback)
        } catch (error) {
          if (signal?.aborted) throw error
          log.warn({ err: error, conversation: id }, 'a request of a guest could not be judged')
          return unjudged(request, error instanceof WeirError ? error.message : texts.weirHasFailed)
        }
      },

      async afterModel(answer, { waitMs, signal } = {}) {
        checkRequest(
          (answer as GuestAnswer | undefined)?.request,
          'afterModel({ request, answer })',
        )
        const history = histories.read(id, answer.request)
        const { spoken, words, n } = answeredRound(answer, history)
        await settle(answer.request, spoken.usage)
        const place = turnIn(history)
        // A front that hides denies the answer of a round that is over.
        const least = hides ? (over.get(words) ?? 0) + 1 : 1
        const shown = Math.max(n + (hidden.get(words) ?? 0), least)
        const isUnseen = isUnshown || isSilent(spoken)
        const key = roundKey(words, isUnseen ? silenceAfter(place, words, shown) : shown)
        const last = history.rounds.at(-1)
        const before = finalKey(last?.key ?? '', hidden)
        const isShownBefore = last === undefined || shownUpTo.get(id) === last.key
        const offer = toolsFor(spoken, history.tools, agent.hints, pollersOf(answer.request))
        const response = responseOf(spoken, key)
        const round: SentRound = {
          key,
          // Its place does not identify a round that the next request does not show.
          after: isUnshown ? null : (hiddenKeys.at(-1) ?? before),
          response: asHostReads(response, offer.declarations, answer.request.host),
          ...offer,
        }
        const { calls } = round.response
        for (const call of spoken.calls)
          sentCalls.set(callName({ callId: call.id }), { key, sent: argumentsHash(call.arguments) })
        try {
          const verdicts = await front.proposeRound(place, round, {
            waitMs: calls.length === 0 || !(blocking || refuses) ? 0 : (waitMs ?? waitMsDefault),
            signal,
            hides,
            results: isShownBefore ? [] : ofRound(before, resultsIn(last)),
          })
          const isPoll = waitMs !== undefined
          if (!blocking && (verdicts !== undefined || !refuses)) return spoken.calls.map(allowed)
          const decided = verdictsFrom(round, verdicts, { refuses, isPoll })
          const number = verdicts?.place
          const own =
            number === undefined
              ? decided
              : await givenTo(answer, decided, {
                  number,
                  host: answer.request.host,
                  sent: round,
                  key,
                  place,
                })
          const result = ofEach(spoken.calls, calls, own, refuses)
          if (blocking && !isPoll && verdicts?.isSettled !== true && refuses)
            await giveUp(place, round, own)
          if (hides && result.some(({ verdict }) => verdict === 'deny')) hiddenKeys.push(key)
          return result
        } catch (error) {
          const own = verdictsFrom(round, undefined, { refuses, isPoll: false })
          if (signal?.aborted) {
            if (blocking) await giveUp(place, round, own)
            throw error
          }
          log.warn({ err: error, conversation: id }, 'a response of a guest could not be judged')
          if (!(blocking || refuses)) return spoken.calls.map(allowed)
          return ofEach(spoken.calls, calls, own, refuses)
        }
      },

      async reportResults(results) {
        checkResults(results)
        const records = results.map((result) =>
          resultRecord(result, sentCalls.get(callName(result))?.key ?? ''),
        )
        if (records.length > 0) await front.report(lastTurn, { results: records, phase: 'running' })
        for (const result of results) await places?.ended(id, result)
      },

      async verdictNow(verdict) {
        const key = sentCalls.get(callName(verdict))?.key ?? ''
        const [now = verdict] = await withStops([verdict], { key, mayRun: new Set() })
        return now
      },

      reserve,

      async reportUnjudged(unjudged) {
        await front.report(lastTurn, { results: [], phase: 'running', unjudged })
      },

      goesOn(callId, child) {
        places?.goesOn(id, callId, conversationOfGuest(agent.name, child))
      },

      async childEnded(child) {
        await places?.childEnded(conversationOfGuest(agent.name, child))
      },

      async endTurn(refusal = '') {
        await places?.childEnded(id)
        const refusalClass = refusal === '' ? null : 'no_progress'
        await front.report(lastTurn, { results: [], phase: 'turn_end', refusal, refusalClass })
      },

      async finishTurn() {
        await places?.childEnded(id)
        await front.report(lastTurn, { results: [], phase: 'turn_end', answered: true })
      },
    }
  }
}

function isSilent({ calls, text }: Words): boolean {
  return calls.length === 0 && text.trim() === ''
}

/** A long name becomes a hash. */
function nameOf(turn: string): string {
  const name = turn.toWellFormed()
  return Buffer.byteLength(name) <= limits.guestKeyBytesMax ? name : hash('sha256', name)
}

const statuses: readonly GuestResult['status'][] = ['ok', 'error', 'unknown', 'skipped']

/** Throws `guest.format` with the first mistake and its place. */
function checkResults(results: unknown): void {
  if (!Array.isArray(results))
    throw formatError(
      `results is ${results === undefined ? 'missing' : kindOf(results)}; must be a list`,
    )
  for (const [at, result] of results.entries()) {
    const place = `results[${at}]`
    if (!isObject(result)) throw formatError(`${place} is ${kindOf(result)}; must be an object`)
    const { callId, nth = 0, status, text } = result
    for (const [name, value] of Object.entries({ callId, text }))
      if (typeof value !== 'string')
        throw formatError(
          `${place}.${name} is ${value === undefined ? 'missing' : kindOf(value)}; must be a text`,
        )
    if (!statuses.includes(status as GuestResult['status']))
      throw formatError(
        `${place}.status is ${status === undefined ? 'missing' : shown(status)}; must be ${alternatives(statuses)}`,
      )
    if (!Number.isSafeInteger(nth) || Number(nth) < 0)
      throw formatError(`${place}.nth is ${shown(nth)}; must be a whole number from 0 on`)
  }
}

function argumentsHash(text: string): string {
  return hash('sha256', canonicalArguments(text)).slice(0, 16)
}

/** The result with the arguments that the history shows, if they are not those that were sent. */
function withChange(result: ResultRecord, sentHash: string | undefined): ResultRecord {
  const isChanged =
    sentHash !== undefined && result.shown !== null && argumentsHash(result.shown) !== sentHash
  return isChanged ? result : { ...result, shown: null }
}

function resultRecord({ callId, nth = 0, status, text }: GuestResult, key: string): ResultRecord {
  return {
    key,
    callId,
    nth,
    status,
    shown: null,
    durationMs: 0,
    text: cutToBytes(text, limits.resultBytesMax),
  }
}

const noAdvice = {
  action: 'none',
  text: '',
  rule: null,
  cap: null,
  userText: '',
  fallback: '',
  judged: false,
} as const

function unjudged({ body }: AnyGuestRequest, reason: string): Advice {
  return { ...noAdvice, reason, applied: body }
}

function adviceFrom(
  request: AnyGuestRequest,
  { advice, isJudged }: ReceivedAdvice,
  { fallback, history }: { fallback: string; history: GuestHistory },
): Advice {
  const { action, text, reason, rule, cap } = advice
  const applied = withEdits(request.body, adviceEdits(request, advice))
  const isEnd = action === 'end'
  return {
    action,
    text,
    rule,
    cap,
    userText: isEnd ? endedForUser({ reason, rule, last: newestResultIn(history) }) : '',
    fallback: isEnd ? fallback : '',
    judged: isJudged,
    applied,
    reason: isJudged ? reason : reason || notWhole,
  }
}

function budgetAdvice({ body }: AnyGuestRequest, { reason }: Failed, fallback: string): Advice {
  const userText = endedForUser({ reason, rule: null })
  return { ...noAdvice, action: 'end', reason, userText, fallback, judged: true, applied: body }
}

function isOpen({ reservation }: Reserved): boolean {
  return reservation !== undefined
}

function wordsOf(request: AnyGuestRequest): string {
  return hash('sha256', JSON.stringify(contentOf(request)) ?? '')
}

const notWhole =
  'the log has not the whole history of this request: give each agent its own conversation id if two have this one'

/**
 * One verdict for each call as the model sent them. The round has a call once, so only one of its
 * repeats may run. A repeat is found by its words: it may stand between calls of one id. A response
 * above the limits has no call in its round, so no verdict allows one.
 */
function ofEach(
  calls: readonly Words['calls'][number][],
  recorded: Response['calls'],
  verdicts: CallVerdict[],
  refuses: boolean,
): CallVerdict[] {
  if (calls.length === verdicts.length) return verdicts
  if (recorded.length === 0)
    return calls.map(({ id: callId, name }) => ({
      callId,
      name,
      ...(refuses
        ? { verdict: 'deny' as const, ...denials.beyondLimits }
        : { verdict: 'allow' as const, text: '', code: '' as const }),
    }))
  let next = 0
  return calls.map(({ id, name, arguments: sent }) => {
    const call = recorded[next]
    const verdict = verdicts[next]
    const isNext = call?.id === id && call.name === name && sentOf(call) === sent
    if (!isNext || verdict === undefined)
      return { callId: id, name, verdict: 'deny', ...denials.repeatedCall }
    next += 1
    return verdict
  })
}

/** The places of the calls that may run. */
function allowedIn(verdicts: readonly CallVerdict[]): number[] {
  return verdicts.flatMap(({ verdict }, at) => (verdict === 'allow' ? [at] : []))
}

function withoutAllow(own: CallVerdict): CallVerdict {
  const { callId, name, verdict } = own
  return verdict === 'allow' ? { callId, name, verdict: 'deny', ...denials.givenBefore } : own
}

function allowed({ id: callId, name }: { id: string; name: string }): CallVerdict {
  return { callId, name, verdict: 'allow', text: '', code: '' }
}

/** A text above the bound was cut, so nothing after such a call is found, and it is refused too. */
function sentOf({ raw, repair }: Response['calls'][number]): string {
  return repair?.sent ?? raw
}

const denials = {
  beyondLimits: { text: texts.beyondLimits(limits.responseCallsMax), code: 'guest.limits' },
  repeatedCall: { text: texts.repeatedInResponse, code: 'guest.repeated' },
  givenBefore: { text: texts.givenBefore, code: 'guest.repeated' },
  unavailable: { text: texts.notInTime, code: 'guest.unavailable' },
} as const

/** The verdict on each call of a round. `isPoll`: the caller asks again while a call waits. */
function verdictsFrom(
  { response }: SentRound,
  verdicts: RoundVerdicts | undefined,
  { refuses, isPoll }: { refuses: boolean; isPoll: boolean },
): CallVerdict[] {
  const known = new Map(verdicts?.calls.map((call) => [call.ordinal, call]))
  const pending = new Map(verdicts?.pending.map((call) => [call.ordinal, call]))
  return response.calls.map(({ ordinal, id: callId, name }) => {
    const call = known.get(ordinal)
    if (call?.verdict === 'allow') return allowed({ id: callId, name })
    if (call?.verdict === 'deny')
      return {
        callId,
        name,
        verdict: 'deny',
        text: call.text,
        code: codeOfDenial(call),
        reason: call.code,
      }
    if (isPoll && verdicts?.notCounted === undefined) {
      const approval = pending.get(ordinal)
      return {
        callId,
        name,
        verdict: 'pending',
        text: '',
        code: codeOfWait(call?.code ?? ''),
        reason: call?.code ?? '',
        ...(approval !== undefined && {
          approval: { id: approval.id, hash: approval.hash, until: approval.until },
        }),
      }
    }
    if (!refuses) return allowed({ id: callId, name })
    const why =
      verdicts?.notCounted === undefined
        ? denials.unavailable
        : { text: texts.notCounted(verdicts.notCounted), code: 'guest.over' as const }
    return { callId, name, verdict: 'deny', ...why }
  })
}

/** The tools that wait, by the profile of the guest's host. */
function pollersOf({ host }: AnyGuestRequest): readonly string[] {
  return hostNamed(host)?.pollers ?? []
}

/** The conversation of a guest's thread. A long id becomes a hash. */
export function conversationOfGuest(agent: string, thread: string): ConversationId {
  const id = guestConversation(agent, thread.toWellFormed())
  if (Buffer.byteLength(id) <= limits.conversationIdBytesMax) return id
  return guestConversation(agent, hash('sha256', thread))
}
