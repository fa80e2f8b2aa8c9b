// Guest: the twin of the conversation for guests, agents that own their model and tools. It gives
// each model response of a guest a number in the log, and advice for the guest's next request.
// Reads: guest-events.
// Writes: guest-carried to guest-events, round-proposed to rounds-proposed, turn-ended and cancel to
// rounds-checked and rounds-cleared, outcome, verdicts-requested to rounds-cleared,
// history-entry to history, turn-started, round-started, guest-advice, guest-claimed,
// budget-reached, requests-unjudged, turn-finished to activity.
// Owns: the identity of rounds, the guest's turns, their caps, the advice (answers.ts).
// Does not own: whether a call may run (executor), progress and the texts of interventions
// (loop-detector), the guest itself. docs/internals/guests.md has the rules G1 to G12.
//
// GUEST-1. A round is known by its key, or by its call ids (identity.ts). Its first record counts, and
//     a later one only repeats the answer (G1, G9). One round is outstanding at a time (G2).
// GUEST-2. Records wait in order for the outstanding round, and the first of them reports its
//     results at once (G2). One beyond the limits is dropped: `unknown` brings it back (G8).
// GUEST-3. A turn's own names count first, then closed names, then the oldest round, if it is known
//     (G3). Only a request opens an ended turn again. No action ends a turn (G7).
// GUEST-4. A unit ends or begins anew only by a `guest-carried` that counts: no record came after
//     the one that led to it, or the unit is not open (G10). One is in flight at a time.
// A round whose guest has gone on waits for no result (G6), so none stays outstanding. The
// first request after a message of the user shows the last results of the turn before.

import { conversationIdFault } from '../../shared/contract/ids.ts'
import { limits } from '../../shared/contract/limits.ts'
import type {
  CancelRequested,
  EndedTurn,
  GuestCarried,
  GuestClaim,
  GuestResults,
  GuestRound,
  RoundOutcome,
  Tick,
  TurnExtended,
  TurnFailed,
} from '../../shared/contract/messages.ts'
import {
  closed,
  type Output,
  type Reaction,
  type Received,
  type Stage,
  unreachable,
} from '../../shared/contract/stage.ts'
import { tenantOf } from '../../shared/contract/tenant.ts'
import { isGuest, newestTurn } from '../../shared/contract/topology.ts'
import type { Milliseconds } from '../../shared/lib/clock.ts'
import { missingRound } from '../../shared/model-texts/requests.ts'
import { hashOfKey } from '../../shared/transcript/round-key.ts'
import { capStep, expiresAt, withOutcome } from '../turn/allowance.ts'
import {
  cancelAt,
  type Ending,
  internalFailure,
  loseRound,
  lostEntry,
  roundEntry,
  turnEnded,
} from '../turn/endings.ts'
import { isReply } from '../turn/reply.ts'
import { counts, failureOf, isAwaited, type Place, placeOf } from '../turn/unit.ts'
import { faultOf, isClaim } from './admission.ts'
import {
  advice,
  adviceFor,
  adviceOfEnded,
  deniedCalls,
  failedAdvice,
  notCounted,
  repeated,
  stopAdvice,
} from './answers.ts'
import {
  answered,
  cappedByWall,
  endingByFront,
  endingOf,
  endingReasons,
  type TurnEnding,
  turnFinished,
} from './ending.ts'
import { noteRequest, noteUserMessage, ownKey, recogniseRound, recogniseShown } from './identity.ts'
import {
  atRequest,
  claimed,
  endedTurn,
  extend,
  goOn,
  guestEndedMs,
  guestTurnsKeptMax,
  latestOutcomeOf,
  newestByWords,
  noteOver,
  noteRecord,
  type OpenTurn,
  openTurn,
  overOf,
  propose,
  report,
  requestOf,
  roundBegun,
  roundOf,
  shifted,
  shownAnswer,
  shownBefore,
  withName,
} from './turn.ts'

/**
 * Records of one guest that may wait for its outstanding round, and their bytes together. Two for
 * each round of a request that the log does not know, and the request.
 */
export const guestPendingMax = 256
const guestPendingBytesMax = 4 * 1024 * 1024
/** A guest's unit begins anew after this time, even between the rounds of a turn. */
const guestUnitMsMax = 24 * 60 * 60_000

export type Guest = {
  /** Keys of closed turns before the newest one, oldest first. */
  turns: string[]
  turn: OpenTurn | undefined
  /** The newest turn, if it is over. */
  newest: EndedTurn | undefined
  /** Records that wait for the outstanding round, in order. */
  pending: Waiting[]
  pendingBytes: number
  /** A `guest-carried` is in flight (GUEST-4). */
  carrying: boolean
  /** Records of fronts are dropped until it counts (G11). */
  renewing: boolean
  /** The time of the record with which the unit began. */
  since: Milliseconds
  /** The time since which no turn is open. */
  idleSince: Milliseconds
}

type FrontReport = GuestRound | GuestResults
/** `read`: results as the turn showed them when they were read first (`inTurn`). */
type Waiting = { message: FrontReport; offset: number; read?: GuestResults }

type In =
  | FrontReport
  | GuestClaim
  | CancelRequested
  | RoundOutcome
  | TurnExtended
  | TurnFailed
  | GuestCarried
  | Tick

/**
 * The work of one record: the state that it changes in place, and the records to write. `opensAt`:
 * the number of a turn that opens now.
 */
type Step = {
  place: Place
  state: Guest
  records: Output[]
  opensAt: number
  hasEnded: boolean
}

export const guest: Stage<Guest, In> = {
  name: 'guest',
  beginsAnew: (message) => message.type === 'guest-carried',
  unit: (message) => message.conversation,
  wants: () => [],

  due({ turn, carrying, idleSince }) {
    if (turn === undefined) return carrying ? undefined : idleSince + limits.conversationIdleMs
    if (turn.outstanding !== undefined) return latestOutcomeOf(turn.outstanding)
    const idleMs = turn.last.action === 'end' ? guestEndedMs : limits.guestIdleMs
    return Math.min(expiresAt(turn.allowance), turn.activeAt + idleMs)
  },

  react(state, record) {
    const { message } = record
    const place = placeOf(record)
    if (message.type === 'guest-round' || message.type === 'guest-results')
      return onFront(state, place, message)
    if (message.type === 'guest-carried') return onCarried(state, record, message)
    if (message.type === 'guest-claim') return onClaim(state, message)
    if (state === undefined) return closed
    const step = begin(place, state)
    switch (message.type) {
      case 'round-outcome':
        onOutcome(step, message)
        break
      case 'turn-extended':
        onExtended(state, message)
        break
      case 'turn-failed':
        if (isTurnOf(state, message.turn)) endByFailure(step, failureOf('guest', message))
        break
      case 'cancel-requested':
        onCancel(step, message)
        break
      case 'tick':
        return onTick(step)
      default:
        return unreachable(message)
    }
    return settled(step)
  },

  /**
   * A record that throws would throw again, so it is dropped. It ends the open turn, whose next
   * request opens it again.
   */
  failed(state, record, reason) {
    const { message } = record
    if (message.type === 'guest-carried') return closed // the unit begins with its next record
    if (state === undefined) return closed
    const step = begin(placeOf(record), state)
    state.pending = [] // one of them may have thrown
    state.pendingBytes = 0
    const ending = internalFailure('guest', reason)
    if (state.turn !== undefined)
      endByFailure(step, { note: missingRound.brokenInTheTools, ending })
    else if (message.type === 'tick') state.idleSince = record.time
    return settled(step)
  },
}

function onFront(state: Guest | undefined, place: Place, message: FrontReport): Reaction<Guest> {
  const { conversation, time } = place
  if (!isGuest(conversation) || conversationIdFault(conversation) !== undefined) return { state } // the conversation of a user: no answer of this stage belongs to it
  const fault = faultOf(message)
  if (fault !== undefined) return { state, records: [notCounted(place, message, fault)] }
  if (state?.renewing) return { state }

  const step = begin(place, state ?? begun(time))
  if (message.type === 'guest-results')
    step.records.push(...reachedBudgets(step, message), ...unjudgedRequests(place, message))
  if (!wait(step.state, { message, offset: place.offset })) return step
  drain(step)
  const isOpened = step.state.turn !== undefined || step.hasEnded
  return state === undefined && !isOpened ? { records: step.records } : settled(step)
}

/** A claim waits for no round: its own is outstanding, or it gets nothing. */
function onClaim(state: Guest | undefined, message: GuestClaim): Reaction<Guest> {
  const isOwn = isGuest(message.conversation) && isClaim(message)
  return { state, records: isOwn ? [claimed(state?.turn, message)] : [] }
}

/** A request reports a soft budget once, so it has to count even if the record is dropped. */
function reachedBudgets({ place, state }: Step, { reached }: GuestResults): Output[] {
  const { conversation } = place
  const own = {
    conversation,
    turn: state.turn?.turn ?? -1,
    round: 0,
    tenant: tenantOf(conversation),
  }
  return reached.map((use) => ({
    to: 'activity',
    message: { type: 'budget-reached', ...own, ...use },
  }))
}

/** Requests that passed unjudged belong to no turn, so they count in any state. */
function unjudgedRequests({ conversation, offset }: Place, { unjudged }: GuestResults): Output[] {
  const own = { conversation, at: offset, requests: unjudged }
  return unjudged.length === 0
    ? []
    : [{ to: 'activity', message: { type: 'requests-unjudged', ...own } }]
}

function begin(place: Place, state: Guest): Step {
  return { place, state, records: [], opensAt: place.offset, hasEnded: false }
}

function begun(time: Milliseconds): Guest {
  return {
    turns: [],
    turn: undefined,
    newest: undefined,
    pending: [],
    pendingBytes: 0,
    carrying: false,
    renewing: false,
    since: time,
    idleSince: time,
  }
}

/** Adds a record to those that wait. False: there is no room (GUEST-2). */
function wait(state: Guest, waiting: Waiting): boolean {
  if (state.pending.length > 0) {
    const bytes = state.pendingBytes + bytesOf(waiting.message)
    if (state.pending.length >= guestPendingMax || bytes > guestPendingBytesMax) return false
    state.pendingBytes = bytes
  }
  state.pending.push(waiting)
  return true
}

/** The size as JSON, which is never below the size of the record. */
function bytesOf(message: FrontReport): number {
  return Buffer.byteLength(JSON.stringify(message))
}

/** Applies the waiting records in order, up to the first that has to wait for a round. */
function drain(step: Step): void {
  const { state } = step
  for (;;) {
    endOverdue(step)
    const [next] = state.pending
    if (next === undefined) break
    const { message } = next
    // A turn has the offset of the record that opens it, also of one that waited.
    step.opensAt = next.offset
    if (message.type === 'guest-results') next.read ??= inTurn(state, message)
    const hasToWait =
      message.type === 'guest-round'
        ? onRound(step, message)
        : onResults(step, message, next.read ?? message)
    if (hasToWait) return
    state.pending.shift()
  }
  state.pendingBytes = 0
}

/** Between two rounds: ends a turn whose time is over, or a unit that has to begin anew (G11). */
function endOverdue(step: Step): void {
  const { place, state } = step
  const { turn } = state
  if (turn === undefined || turn.outstanding !== undefined) return
  if (place.time >= expiresAt(turn.allowance)) return end(step, turn, cappedByWall(turn.allowance))
  if (place.time - state.since < guestUnitMsMax) return
  end(step, turn, endingOf(turn, endingReasons.renewed))
  state.renewing = true
  state.pending = []
}

/** Returns whether the record has to wait for the outstanding round. */
function onRound(step: Step, message: GuestRound): boolean {
  const { place, state, records } = step
  const of = turnOf(state, message.turnKey, [message.key])
  const newest = of === 'ended' ? state.newest : undefined
  const over = newest?.known.find(({ key }) => key === message.key)
  if (newest !== undefined && over !== undefined) {
    records.push(repeated(place, message, { turn: newest.turn, denied: over.denied }))
    return false
  }
  if (of === 'closed' || newest?.reopens === false) {
    records.push(notCounted(place, message, endingReasons.over))
    return false
  }
  if (of === 'other' && leaveTurn(step, message)) return true
  const turn = state.turn ?? open(step, message, newest)
  noteRecord(turn, message, place.time)
  recogniseRound(turn.identities, turn.known, message)
  if (turn.known.has(ownKey(turn.identities, message.key))) {
    records.push(...repeatedAnswer(place, turn, message))
    return false
  }
  if (turn.outstanding !== undefined) {
    records.push(...goOn(place, turn))
    return true
  }
  records.push(...propose(place, turn, message))
  return false
}

/** The answer to a round that the log knows already (GUEST-1). */
function repeatedAnswer(place: Place, turn: OpenTurn, message: GuestRound): Output[] {
  const { key, turnKey } = message
  const { outstanding, last, known } = turn
  if (outstanding?.key === key) {
    outstanding.request = requestOf(turn, message) ?? outstanding.request
    const round = { conversation: place.conversation, turn: turn.turn, round: outstanding.round }
    return [
      roundBegun(place, turn, { outstanding, turnKey }),
      { to: 'tools', message: { type: 'verdicts-requested', ...round } },
    ]
  }
  if (last.key === key) return [advice(place, turn, { turnKey })]
  const denied = known.get(ownKey(turn.identities, key)) ?? []
  return [repeated(place, message, { turn: turn.turn, denied })]
}

/**
 * Returns whether the record has to wait for the outstanding round. `message`: the record in its turn,
 * which also has the rounds before a message of the user. The front counts only those in `received`.
 */
function onResults(step: Step, received: GuestResults, message: GuestResults): boolean {
  const { place, state, records } = step
  const { phase, turnKey, requestId } = message
  const isRequest = phase === 'before_model'
  const named = keysOf(state, message)
  const of = turnOf(state, turnKey, named)
  if (of === 'ended' && isRequest) return onRequestOfEnded(step, received)
  if (
    of === 'ended' ||
    (of !== 'open' && phase === 'turn_end' && turnKey !== newestTurn) ||
    (of === 'closed' && !isRequest)
  ) {
    if (requestId !== '') records.push(notCounted(place, message, endingReasons.over))
    return false
  }
  if (of !== 'open' && isRequest && leaveTurn(step, message)) return true
  const isOpened = state.turn === undefined
  const turn = state.turn ?? (isRequest ? open(step, message, undefined) : undefined)
  if (turn === undefined) return false
  // Results alone name their round, so their front may name the turn in another way.
  if (of === 'open' || isRequest) noteRecord(turn, message, place.time)

  const shown = isOpened ? keysOf(state, message) : named // each turn has its hidden rounds
  const counted = message === received ? shown : keysOf(state, received)
  if (isRequest) noteRequest(turn.identities, { shown, counted }, received)
  const keys = takeResults(step, turn, { shown, message })
  if (message !== received) noteUserMessage(turn.identities)
  const { outstanding } = turn
  if (phase === 'running') {
    if (requestId !== '') records.push(advice(place, turn, { turnKey, requestId }))
    return false
  }
  const unknown = keys.filter((key) => !turn.known.has(key))
  if (outstanding !== undefined && (!isRequest || keys.includes(outstanding.key))) {
    records.push(...goOn(place, turn))
    if (!isRequest || unknown.length === 0) return true
  }
  const over = message.blocking ? overOf(turn.over, counted) : []
  if (requestId !== '') records.push(advice(place, turn, { turnKey, unknown, requestId, over }))
  if (!isRequest) end(step, turn, endingByFront(turn, message))
  return false
}

/**
 * The record of an open turn. Its user may write in the middle, under one name of the turn. The turn
 * then has the new prompt, so a record that waits is read once.
 */
function inTurn({ turn }: Guest, message: GuestResults): GuestResults {
  const isOwn = turn?.names.includes(message.turnKey) === true
  return (isOwn ? shownBefore(turn, message) : undefined) ?? message
}

/** Reports the results for the outstanding round. Returns the `shown` keys as the turn knows them. */
function takeResults(
  { place, records }: Step,
  turn: OpenTurn,
  { shown, message }: { shown: readonly string[]; message: GuestResults },
): string[] {
  const { phase } = message
  const { identities, outstanding, known } = turn
  if (phase !== 'running') recogniseShown(identities, known, shown)
  const answer = phase === 'before_model' ? shownAnswer(turn, message) : undefined
  const own = (key: string) =>
    outstanding !== undefined && key === answer ? outstanding.key : ownKey(identities, key)
  records.push(...report(place, turn, resultsOf(turn, message, own)))
  return shown.map(own)
}

/**
 * The guest asks its model in a turn that is over. The turn opens again with its next new round, so
 * a mere repeat of the last request opens none.
 */
function onRequestOfEnded({ place, state, records }: Step, message: GuestResults): boolean {
  const { newest } = state
  if (newest === undefined) return false
  const now = atRequest(newest, place.time)
  const names = withName(newest.names, message.turnKey)
  state.newest = { ...now, names, reopens: now.stopped === '' }
  const known = new Set(newest.known.map(({ key }) => key))
  const unknown = keysOf(state, message).filter((key) => !known.has(key))
  const over = message.blocking ? overOf(newestByWords(known), keysOf(state, message)) : []
  if (message.requestId !== '') records.push(adviceOfEnded(place, now, message, { unknown, over }))
  return false
}

/**
 * The turn that a record belongs to. `ended`: the newest one, which is over. `closed`: one before
 * it. `other`: none that the unit knows. Keeps GUEST-3: a later round can have words that another
 * turn has too, such as its reply.
 */
function turnOf(
  { turn, newest, turns }: Guest,
  turnKey: string,
  keys: readonly string[],
): 'open' | 'ended' | 'closed' | 'other' {
  if (turn?.names.includes(turnKey)) return 'open'
  if (newest?.names.includes(turnKey)) return 'ended'
  if (turns.includes(turnKey)) return 'closed'
  const [oldest] = keys
  if (oldest === undefined) return 'other'
  if (turn?.known.has(ownKey(turn.identities, oldest))) return 'open'
  if (newest?.known.some(({ key }) => key === oldest)) return 'ended'
  return 'other'
}

/**
 * The keys of the rounds in a guest's history. Requests and ends of turns name the visible rounds,
 * and the count of the hidden ones is added (G12).
 */
function keysOf({ turn, newest }: Guest, { keys, hiddenKeys, phase }: GuestResults): string[] {
  if (phase === 'running') return keys
  const hidden = turn?.hidden ?? new Map(newest?.hidden.map(({ hash, count }) => [hash, count]))
  return [...keys.map((key) => shifted(hidden, key)), ...hiddenKeys]
}

function resultsOf(
  { hidden }: OpenTurn,
  { results, phase }: GuestResults,
  own: (key: string) => string,
) {
  return results.map((result) => {
    const key = phase === 'running' ? result.key : shifted(hidden, result.key)
    return { ...result, key: own(key) }
  })
}

/**
 * Another turn begins: ends the open one, if there is one. Its request may show the last results of
 * the open one. Returns whether the outstanding round has to be over first.
 */
function leaveTurn(step: Step, message: FrontReport): boolean {
  const { turn } = step.state
  if (turn === undefined) return false
  if (turn.outstanding !== undefined) {
    const before = message.type === 'guest-results' ? shownBefore(turn, message) : undefined
    if (before !== undefined)
      takeResults(step, turn, { shown: keysOf(step.state, before), message: before })
    step.records.push(...goOn(step.place, turn))
    return true
  }
  end(step, turn, endingOf(turn, endingReasons.byNextTurn))
  return false
}

function open(step: Step, message: FrontReport, goesOn: EndedTurn | undefined): OpenTurn {
  const { place, state } = step
  const { turn, records } = openTurn({ ...place, offset: step.opensAt }, message, goesOn)
  const former = goesOn === undefined ? (state.newest?.names ?? []) : []
  state.turns = [...state.turns.filter((key) => key !== message.turnKey), ...former].slice(
    -guestTurnsKeptMax,
  )
  state.newest = undefined
  state.turn = turn
  step.records.push(...records)
  return turn
}

function end(step: Step, turn: OpenTurn, ending: TurnEnding): void {
  const { place, records } = step
  const { conversation } = place
  records.push(...turnEnded({ conversation, turn: turn.turn }), turnFinished(place, turn, ending))
  ended(step, turn, ending)
}

function ended(step: Step, turn: OpenTurn, ending: TurnEnding): void {
  const { place, state } = step
  state.turn = undefined
  state.newest = endedTurn(turn, ending)
  state.idleSince = place.time
  step.hasEnded = true
}

/**
 * Ends the turn after an internal failure, without waiting: the outstanding round is lost. Its key
 * stays known, so no front sends it again.
 */
function endByFailure(step: Step, failure: { note: string; ending: Ending } | undefined): void {
  const { place, state } = step
  const { turn } = state
  if (turn === undefined || failure === undefined) return
  const { note, ending } = failure
  const round = { ...place, ...roundOf(turn) }
  const { key = '', turnKey } = turn.outstanding ?? {}
  const cut =
    turn.outstanding === undefined ? cancelAt(runningAt, round) : loseRound(runningAt, round, note)
  step.records.push(
    ...cut,
    turnFinished(place, turn, ending),
    failedAdvice(place, turn, { key, turnKey, reason: ending.reason }),
  )
  ended(step, turn, ending)
  drain(step)
}

/** The stages that may be at work on the outstanding round. */
const runningAt = ['verdict', 'tools'] as const

function onOutcome(step: Step, outcome: RoundOutcome): void {
  const { place, state } = step
  const { turn } = state
  const outstanding = turn?.outstanding
  if (turn === undefined || outstanding === undefined || !isAwaited(outstanding, outcome)) return
  const { key, turnKey, round, nudge, hides, calls } = outstanding
  for (const { id } of calls) turn.formerIds.add(id)
  turn.allowance = withOutcome(turn.allowance, outcome)
  const denied = deniedCalls(outcome)
  turn.known.set(
    key,
    denied.map(({ ordinal }) => ordinal),
  )
  noteOver(turn.over, key)
  if (hides && denied.length > 0)
    turn.hidden.set(hashOfKey(key), (turn.hidden.get(hashOfKey(key)) ?? 0) + 1)
  const { intervention } = outcome
  turn.last = {
    round,
    key,
    denied,
    ...(turn.isCancelled
      ? stopAdvice
      : adviceFor(intervention, turn.last, capStep(turn.allowance, place.time))),
  }
  turn.outstanding = undefined
  turn.activeAt = place.time // its front has the advice from now on
  step.records.push(roundEntry(outcome, nudge), advice(place, turn, { turnKey }))
  if (isReply(outcome.response, intervention)) end(step, turn, answered(turn, outcome))
  drain(step)
}

function onExtended({ turn }: Guest, message: TurnExtended): void {
  if (turn?.outstanding !== undefined && isAwaited(turn.outstanding, message))
    extend(turn, turn.outstanding, message.until)
}

function onCancel(step: Step, { messageId }: CancelRequested): void {
  const { place, state } = step
  const { turn } = state
  if (turn === undefined || !(messageId === '' || turn.names.includes(messageId))) return
  turn.isCancelled = true
  turn.last = { ...turn.last, ...stopAdvice }
  // An observing front has let its calls run, and none of them may count as skipped.
  if (turn.blocking) step.records.push(...cancelAt(runningAt, { ...place, ...roundOf(turn) }))
  step.records.push(advice(place, turn))
}

function onTick(step: Step): Reaction<Guest> {
  const { place, state } = step
  const { turn } = state
  if (turn === undefined) return state.carrying ? { state } : carry(step, null)
  const { outstanding } = turn
  if (outstanding !== undefined) {
    step.records.push(lostEntry({ ...place, ...outstanding }, missingRound.neverArrived))
    turn.outstanding = undefined
    end(step, turn, cappedByWall(turn.allowance))
    drain(step)
  } else if (place.time >= expiresAt(turn.allowance)) end(step, turn, cappedByWall(turn.allowance))
  else end(step, turn, endingOf(turn, endingReasons.idle))
  return settled(step)
}

/** Keeps GUEST-4. */
function onCarried(
  state: Guest | undefined,
  record: Received<In>,
  message: GuestCarried,
): Reaction<Guest> {
  const place = placeOf(record)
  if (state === undefined || counts(state, message.from, record.previous)) {
    if (message.turns === null) return closed
    const next = { ...begun(place.time), turns: message.turns, newest: message.newest ?? undefined }
    return { state: next, anew: true }
  }
  state.carrying = false
  const step = begin(place, state)
  return state.turn === undefined ? carry(step, state) : { state }
}

/** Writes `guest-carried` if a turn has ended and none is open (GUEST-4). */
function settled(step: Step): Reaction<Guest> {
  const { state, records, hasEnded } = step
  if (hasEnded && state.turn === undefined && !state.carrying) return carry(step, state)
  return { state, records }
}

/** `remembered` null: the unit ends. */
function carry({ place, state, records }: Step, remembered: Guest | null): Reaction<Guest> {
  state.carrying = true
  const { conversation, offset } = place
  const message: GuestCarried = {
    type: 'guest-carried',
    conversation,
    from: offset,
    turns: remembered?.turns ?? null,
    newest: remembered?.newest ?? null,
  }
  return { state, records: [...records, { to: 'self', message }] }
}

/** `turn` null: a stage failed on a record without a turn. */
function isTurnOf({ turn: open }: Guest, turn: number | null): boolean {
  return open !== undefined && (turn === null || turn === open.turn)
}
