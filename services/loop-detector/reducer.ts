// Loop-detector: clears each round before it runs, and judges its results afterwards.
// Reads: rounds-checked.
// Writes: round-outcome and turn-extended to conversation-events and guest-events, round-cleared to
// rounds-cleared, model-answered, call-denied and intervention-raised to activity.
// Owns: the calls of a round that are cleared, the response of a round while it runs, the judgement
// of its outcome, the ladder. Its memory is that of one turn, and a new turn begins without any.
// Does not own: checking a call against its schema (validator), running it (executor), the caps and
// the reaction to an intervention (conversation).
//
// One round of a turn is outstanding at a time. A round is cleared at most once, and one
// round-outcome with a result for each call answers it (R5).
// After a cancel, and at or after expiresAt, nothing is cleared (R6). A cancel can overtake
// its round, so it is remembered until the turn expires.
// An outstanding round keeps its response and its real results, through a cancel too, until
// the executor reports it or certainly cannot any more.
// An intervention is in the round's own outcome, so it is in the very next request. A round
// that cannot have one is not judged. A rule in shadow reports to activity only.
// A round that waits for slow guards extends its turn by their deadline, up to
// limits.turnExtensionMsMax for a turn. The conversation reads that before anything else.

import {
  noResultInTime,
  resultWith,
  skippedCall,
  type WhyNotRun,
} from '../../shared/contract/call/call-endings.ts'
import { turnKey } from '../../shared/contract/ids.ts'
import { limits } from '../../shared/contract/limits.ts'
import type {
  Call,
  CallResult,
  Cancel,
  Denial,
  GuardWish,
  Intervention,
  RoundChecked,
  RoundExecuted,
  Tick,
  TurnEnded,
} from '../../shared/contract/messages.ts'
import {
  closed,
  type Output,
  type Reaction,
  type Stage,
  unreachable,
} from '../../shared/contract/stage.ts'
import { latestOutcome, slowestTimeout } from '../../shared/contract/turn/tool-deadline.ts'
import type { Milliseconds } from '../../shared/lib/clock.ts'
import { WeirError } from '../../shared/lib/errors.ts'
import { callsBeyond, textOnlyResponse } from '../../shared/model-texts/endings.ts'
import { modeFor } from '../../shared/runtime/guards/tool-pattern.ts'
import { redactedActivity } from '../../shared/runtime/redaction/agent-redaction.ts'
import { callDenied, modelAnswered } from './answer-report.ts'
import { evidenceOf } from './evidence/evidence.ts'
import { withGuardInterventions } from './guard-interventions.ts'
import { denialsToShow, emptyMemory, judge, type LoopMemory } from './judgement.ts'

/**
 * A guard with this deadline or a longer one is slow. A round that waits for it extends its turn,
 * because a person's time must not count as the agent's.
 */
export const slowGuardMs = 60_000

type Inbox = RoundChecked | RoundExecuted | TurnEnded | Cancel | Tick

/**
 * An open turn: between its rounds, during one of them, or only a cancel that must be remembered.
 */
export type Turn = {
  cancelled: boolean
  /** The newest one of its rounds. */
  expiresAt: Milliseconds
  /** The latest end to which rounds can extend it. Undefined before the first round. */
  extendableTo: Milliseconds | undefined
  /** Rounds of a turn come in order, so a round up to this number is a repeat. */
  roundNewest: number
  /** The round that the executor has. */
  outstanding: Outstanding | undefined
  memory: LoopMemory
}

type Outstanding = {
  checked: RoundChecked
  /** Results of the calls that must not run. */
  decided: CallResult[]
}

export const loopDetector: Stage<Turn, Inbox> = {
  name: 'loop-detector',

  unit(message) {
    return message.type === 'tick' ? message.unit : turnKey(message)
  },

  react(turn, { message, time }) {
    switch (message.type) {
      case 'round-checked':
        return onChecked(turn ?? opened(), message, time)
      case 'round-executed':
        return onExecuted(turn, message, time)
      case 'turn-ended':
        return closed
      case 'cancel':
        return onCancel(turn, message, time)
      case 'tick':
        return onLapsed(turn)
      default:
        return unreachable(message)
    }
  },

  wants: () => [],

  due({ cancelled, expiresAt, outstanding }) {
    if (outstanding !== undefined) {
      const { policy, declarations } = outstanding.checked
      return latestOutcome(expiresAt, policy, slowestTimeout(declarations))
    }
    return cancelled ? expiresAt : expiresAt + limits.turnLingerMs
  },

  /**
   * The runtime reports the failure. The conversation ends the turn with the note that calls may
   * have run (R8).
   */
  failed: () => closed,
}

function opened(): Turn {
  return {
    cancelled: false,
    expiresAt: 0,
    extendableTo: undefined,
    roundNewest: 0,
    outstanding: undefined,
    memory: emptyMemory(),
  }
}

function onChecked(turn: Turn, checked: RoundChecked, time: Milliseconds): Reaction<Turn> {
  const { round, response, failure, callsLeft } = checked
  if (round <= turn.roundNewest) return { state: turn }
  if (turn.outstanding !== undefined) throw secondRound(turn.outstanding.checked, round)
  turn.roundNewest = round
  turn.expiresAt = Math.max(turn.expiresAt, checked.expiresAt)
  turn.extendableTo ??= checked.expiresAt + limits.turnExtensionMsMax

  if (failure !== null || turn.cancelled)
    return { state: turn, records: [outcomeOf(checked, allSkipped(response.calls, 'cancelled'))] }
  if (time >= checked.expiresAt)
    return { state: turn, records: [outcomeOf(checked, allSkipped(response.calls, 'expired'))] }

  const denials = denialsToShow(turn.memory, checked)
  const decided = decidedOf(response.calls, denials, callsLeft)
  const refused = decided
    .filter(({ status }) => status === 'denied')
    .map((result) => callDenied(checked, result))
  const reports = [modelAnswered(checked), ...refused]
  if (decided.length === response.calls.length)
    return { state: turn, records: [...reports, ...judged(turn, checked, decided, time)] }
  turn.outstanding = { checked, decided }
  const extendedTo = extensionOf(checked, decided, turn.extendableTo)
  if (extendedTo === null)
    return { state: turn, records: [...reports, cleared(checked, decided, null)] }
  turn.expiresAt = Math.max(turn.expiresAt, extendedTo)
  return {
    state: turn,
    records: [...reports, turnExtended(checked, extendedTo), cleared(checked, decided, extendedTo)],
  }
}

/** Judges the round after its calls ran. */
function onExecuted(
  turn: Turn | undefined,
  { round, results, wishes }: RoundExecuted,
  time: Milliseconds,
): Reaction<Turn> {
  if (turn === undefined) return closed
  const { outstanding } = turn
  if (outstanding?.checked.round !== round) return { state: turn }
  const { checked, decided } = outstanding
  turn.outstanding = undefined
  const all = completed(checked.response.calls, results, decided)
  return {
    state: turn,
    records: turn.cancelled ? [outcomeOf(checked, all)] : judged(turn, checked, all, time, wishes),
  }
}

function onCancel(
  turn: Turn | undefined,
  { expiresAt }: Cancel,
  time: Milliseconds,
): Reaction<Turn> {
  if (turn === undefined && time >= expiresAt) return closed // none of its rounds would be cleared
  const cancelled = turn ?? opened()
  cancelled.cancelled = true
  cancelled.expiresAt = Math.max(cancelled.expiresAt, expiresAt)
  return { state: cancelled }
}

/**
 * Ends the turn after its last deadline. A round that is still outstanding has lost its results,
 * and no request follows it.
 */
function onLapsed(turn: Turn | undefined): Reaction<Turn> {
  const outstanding = turn?.outstanding
  if (outstanding === undefined) return closed
  const { checked, decided } = outstanding
  return { records: [outcomeOf(checked, completed(checked.response.calls, decided))] }
}

/** The outcome of the round with its intervention, and the interventions of rules in shadow. */
function judged(
  turn: Turn,
  checked: RoundChecked,
  results: CallResult[],
  time: Milliseconds,
  wishes: GuardWish[] = [],
): Output[] {
  const judgement = judge(turn.memory, evidenceOf(checked, results, time), checked.policy)
  const intervention = withGuardInterventions(judgement.intervention, wishes, checked.round)
  const outcome = outcomeOf(checked, results, intervention)
  const shadowed = judgement.shadowed.map((wouldBe) => interventionRaised(checked, wouldBe, true))
  return intervention === null || intervention.ordinary
    ? [outcome, ...shadowed]
    : [outcome, interventionRaised(checked, intervention, false), ...shadowed]
}

function cleared(
  checked: RoundChecked,
  decided: CallResult[],
  extendedTo: Milliseconds | null,
): Output {
  const { conversation, turn, round, response, declarations, agent, policy, expiresAt } = checked
  const { calls } = response
  return {
    to: 'tools',
    message: {
      type: 'round-cleared',
      conversation,
      turn,
      round,
      calls,
      decided,
      declarations,
      agent,
      policy,
      expiresAt,
      extendedTo,
    },
  }
}

/** The new end of a turn whose calls wait for slow guards. Null: no change. */
function extensionOf(
  { response, policy, expiresAt }: RoundChecked,
  decided: CallResult[],
  extendableTo: Milliseconds,
): Milliseconds | null {
  const slow = policy.guards.filter(({ deadlineMs }) => deadlineMs >= slowGuardMs)
  if (slow.length === 0) return null
  const isDecided = new Set(decided.map(({ ordinal }) => ordinal))
  const names = response.calls
    .filter(({ ordinal }) => !isDecided.has(ordinal))
    .map(({ name }) => name)
  const awaited = slow.filter((guard) => names.some((name) => modeFor(guard, name) === 'enforce'))
  const until = Math.min(
    expiresAt + Math.max(0, ...awaited.map(({ deadlineMs }) => deadlineMs)),
    extendableTo,
  )
  return until > expiresAt ? until : null
}

function turnExtended({ conversation, turn, round }: RoundChecked, until: Milliseconds): Output {
  return {
    to: 'conversation',
    message: { type: 'turn-extended', conversation, turn, round, until },
  }
}

function outcomeOf(
  checked: RoundChecked,
  results: CallResult[],
  intervention: Intervention | null = null,
): Output {
  const { conversation, turn, round, response, failure, policy } = checked
  return {
    to: 'conversation',
    message: {
      type: 'round-outcome',
      conversation,
      turn,
      round,
      response,
      failure,
      results,
      intervention,
      policy,
    },
  }
}

function interventionRaised(
  { conversation, turn, round, response, policy }: RoundChecked,
  intervention: Intervention,
  shadow: boolean,
): Output {
  const raised = { conversation, turn, round, intervention, shadow }
  return {
    to: 'activity',
    message: redactedActivity(
      { type: 'intervention-raised', ...raised },
      policy.redact,
      response.calls,
    ),
  }
}

/** Skips every call of a round. */
function allSkipped(calls: Call[], why: WhyNotRun): CallResult[] {
  return calls.map(({ ordinal }) => resultWith(ordinal, skippedCall(why)))
}

/**
 * Results of the calls that must not run, by ordinal: calls beyond `callsLeft`, and calls that the
 * validator denied.
 */
function decidedOf(calls: Call[], denials: Denial[], callsLeft: number): CallResult[] {
  if (denials.length === 0 && calls.length <= callsLeft) return []
  const denied = new Map(denials.map((denial) => [denial.ordinal, denial]))
  const ordered = calls.toSorted((a, b) => a.ordinal - b.ordinal)
  return ordered.flatMap(({ ordinal }, place) => {
    if (place >= callsLeft) return [overBudget(ordinal, callsLeft)]
    const denial = denied.get(ordinal)
    if (denial === undefined) return []
    const { text, reason } = denial
    return [resultWith(ordinal, { status: 'denied', text, reason })]
  })
}

/**
 * One result for each call, by ordinal. The first list has priority. A call without a result may
 * have run.
 */
function completed(calls: Call[], ...known: CallResult[][]): CallResult[] {
  const [call] = calls
  const [result] = known[0] ?? []
  // Nearly always one call ran.
  if (calls.length === 1 && call?.ordinal === result?.ordinal && result !== undefined)
    return [result]
  const results = new Map(
    known
      .flat()
      .reverse()
      .map((result) => [result.ordinal, result]),
  )
  return calls
    .toSorted((a, b) => a.ordinal - b.ordinal)
    .map(({ ordinal }) => results.get(ordinal) ?? resultWith(ordinal, noResultInTime))
}

function overBudget(ordinal: number, callsLeft: number): CallResult {
  const [text, reason] =
    callsLeft <= 0
      ? [textOnlyResponse, 'no tool can be called in this response']
      : [callsBeyond(callsLeft), 'over the limit of tool calls']
  return resultWith(ordinal, { status: 'skipped', text, reason })
}

/** The conversation requests a round only after the outcome of the previous one. */
function secondRound({ conversation, turn, round }: RoundChecked, second: number): WeirError {
  return new WeirError(
    'runtime.assertion',
    `round ${second} of turn ${turn} of conversation ${conversation} came while round ${round} was outstanding; the conversation must wait for it`,
  )
}
