// Executor: runs the calls of a cleared round and gives each exactly one result.
// Reads: rounds-cleared.
// Writes: `round-executed` to rounds-checked, `approval-asked` and `approval-withdrawn` to approvals,
// `calls-waiting`, `guard-verdict-given`, `guest-verdicts`, `call-offered` and `call-finished` to
// activity, `audit-followed` to audit.
// Owns: the guards that a call waits for (guards/waiting.ts), the claim that may start a call, when
// a call counts as lost, the round's results. Calls that somebody else runs, and questions to a
// person, are in offered/.
// Does not own: starting and stopping processes (performer.ts), fetching verdicts
// (verdict-relay.ts), judging calls and results (guards, loop-detector), the stops of an operator
// (stops.ts).
//
// The log is the lock (R4): the first claim of a ready call wins, and only an outcome of
// that claim (try, owner) is its outcome.
// A call is done once, and a round leaves as one record when all its calls are done (R5).
// Its results never deny a try that may have run.
// No cancel and no deadline of the round skips a claimed call: its owner may be starting it
// now. Its outcome or its deadline decides. A cancelled call of a client has an unknown outcome.
// Nothing becomes ready, and no claim is accepted, at or after the round's expiresAt (R6).
// Time is append time (R2).
// A cancel can overtake its round, so it is remembered until the turn expires. Each round
// arrives before then; one that waits for slow guards may run longer.

import {
  type CallEnding,
  denied,
  noResultInTime,
  outcomeUnknown,
  promisesNeverRan,
  resultWith,
} from '../../shared/contract/call/call-endings.ts'
import { onceGuard, onceRuleOf } from '../../shared/contract/guard/once-guard.ts'
import { type TryId, turnKey } from '../../shared/contract/ids.ts'
import { limits } from '../../shared/contract/limits.ts'
import type {
  Call,
  CallsStopped,
  Cancel,
  Claim,
  Declaration,
  GuardVerdict,
  InputGiven,
  InputRequested,
  Lapsed,
  Outcome,
  Policy,
  ProgramsHashed,
  ResultSent,
  RoundCleared,
  Tick,
  TurnEnded,
  VerdictsRequested,
} from '../../shared/contract/messages.ts'
import {
  closed,
  type Output,
  type Reaction,
  type Stage,
  unreachable,
} from '../../shared/contract/stage.ts'
import { isGuest } from '../../shared/contract/topology.ts'
import type { Milliseconds } from '../../shared/lib/clock.ts'
import { notOffered, notWhole, withoutOnce } from '../../shared/model-texts/denied-calls.ts'
import { earlierTry, neverBegan, runnerGone } from '../../shared/model-texts/endings.ts'
import { modeAmong } from '../../shared/runtime/guards/tool-pattern.ts'
import { stopOfCall, stoppedCall } from '../../shared/runtime/settings/stops.ts'
import { auditsOf } from './audit.ts'
import { applyPrograms, forbidPrograms } from './guards/approval-asking.ts'
import { findHolders, releaseCalls } from './guards/held-calls.ts'
import {
  applyVerdict,
  callsWaiting,
  endOverdueWaits,
  finishWaitingCalls,
  phaseOf,
} from './guards/waiting.ts'
import { changedVerdicts, verdictsOf } from './offered/guest-verdicts.ts'
import {
  applyEarly,
  applyEnd,
  isFromOutside,
  offered,
  runsOutside,
  stopClaimed,
} from './offered/offered-calls.ts'
import {
  applyInput,
  askForApproval,
  requestInput,
  withdrawOffers,
} from './offered/person-offers.ts'
import { notRun } from './results.ts'
import { applyStop } from './stops.ts'
import { type ExecutorTask, tasksOf } from './tasks.ts'
import {
  type Claimed,
  type ClaimInForce,
  callFinished,
  chargeResult,
  claimDeadline,
  findCall,
  finishCall,
  nobody,
  type OpenCall,
  opened,
  type Phase,
  type Round,
  type Turn,
} from './turn.ts'

/** How often a call may be given back unstarted, and the pauses before its next claims, which double. */
export const callReturnsMax = 10
export const callReturnPauseMs = 250
const callReturnPauseMsMax = 30_000

type Inbox =
  | RoundCleared
  | TurnEnded
  | Cancel
  | GuardVerdict
  | ProgramsHashed
  | CallsStopped
  | InputRequested
  | InputGiven
  | Claim
  | Outcome
  | ResultSent
  | Lapsed
  | VerdictsRequested
  | Tick

export const executor: Stage<Turn, Inbox, ExecutorTask> = {
  name: 'executor',

  unit(message) {
    return message.type === 'tick' ? message.unit : turnKey(message)
  },

  react(turn, { message, time }) {
    switch (message.type) {
      case 'round-cleared':
        return onCleared(turn ?? opened(message), message, time)
      case 'cancel':
        return onCancel(turn ?? opened(message), message, time)
      case 'turn-ended':
        return closed
      case 'guard-verdict':
        return inRound(turn, message, time, (turn, round) =>
          applyVerdict(turn, round, message, time),
        )
      case 'programs-hashed':
        return inRound(turn, message, time, (_, round) => applyPrograms(round, message))
      case 'calls-stopped':
        return inRound(turn, message, time, (turn, round) => applyStop(turn, round, message))
      case 'input-given':
        return inRound(turn, message, time, (_, round) => applyInput(round, message))
      case 'verdicts-requested':
        return inRound(turn, message, time, (turn, round) => [verdictsOf(turn, round)])
      case 'input-requested':
        return ofClaim(turn, message, time, (claim) => requestInput(claim, message, time))
      case 'lapsed':
        return ofClaim(turn, message, time, (claim) => retryOrFinish(claim, time, lapsed))
      case 'claim':
        return onClaim(turn, message, time)
      case 'outcome':
        return isFromOutside(message)
          ? onEnd(turn ?? opened(message), message, time)
          : ofClaim(turn, message, time, (claim) => applyOutcome(claim, message, time))
      case 'result-sent':
        return turn === undefined ? closed : onEnd(turn, message, time)
      case 'tick':
        return onTick(turn, time)
      default:
        return unreachable(message)
    }
  },

  wants: tasksOf,

  due(turn) {
    const times = turn.rounds.flatMap((round) =>
      round.calls.flatMap((call) => deadlineOf(round, call) ?? []),
    )
    return times.length === 0 ? turn.closesAt : Math.min(...times)
  },

  /**
   * Running tools stop because the unit is gone. The conversation, informed by the runtime, reports
   * that calls may have run (R8). Open approvals are withdrawn.
   */
  failed: (turn) => ({
    records: turn?.rounds.flatMap((round) => withdrawOffers(turn, round, failure)) ?? [],
  }),
}

const failure = 'an internal failure ended its turn'

function onCleared(turn: Turn, message: RoundCleared, time: Milliseconds): Reaction<Turn> {
  if (message.round <= turn.roundNewest) return { state: turn }
  const { agent } = message
  // Weir does not run a guest's call, so no program can be bound to its approval.
  const policy =
    isGuest(turn.conversation) && message.policy.bindsPrograms
      ? { ...message.policy, bindsPrograms: false }
      : message.policy
  const expiresAt = Math.max(message.expiresAt, message.extendedTo ?? 0)
  const calls = message.calls.toSorted((a, b) => a.ordinal - b.ordinal)
  const counts = { callsLeft: calls.length, resultBytesLeft: limits.roundResultsBytesMax }
  const round: Round = {
    round: message.round,
    agent,
    policy,
    expiresAt,
    clearedAt: time,
    calls: [],
    guards: [],
    personOffers: [],
    isApprovalRequested: false,
    holders: [],
    programsKnown: false,
    inputs: 0,
    interventions: [],
    ...counts,
  }
  turn.roundNewest = message.round
  turn.closesAt = Math.max(turn.closesAt, expiresAt)
  turn.rounds.push(round)

  const decided = new Map(message.decided.map((result) => [result.ordinal, result]))
  const declarations = new Map(
    message.declarations.map((declaration) => [declaration.name, declaration]),
  )
  const records: Output[] = []
  const isLate = time >= message.expiresAt // even if it is extended
  for (const call of calls) {
    const ridesAlong = decided.get(call.ordinal)
    const start =
      ridesAlong ?? admission({ turn, policy, isLate }, call, declarations.get(call.name))
    if (!('status' in start)) {
      round.calls.push({ call, phase: phaseOf(round, call, start) })
      continue
    }
    const result = chargeResult(round, resultWith(call.ordinal, start))
    round.calls.push({ call, phase: { kind: 'done', result } })
    if (ridesAlong === undefined) records.push(callFinished(turn, round, call, result))
  }
  findHolders(round)
  releaseCalls(turn, round, time)
  records.push(...applyEarly(turn, round, time))
  if (round.guards.length > 0) records.push(callsWaiting(turn, round))
  if (policy.bindsPrograms) forbidPrograms(round)
  return reportFinishedRounds(turn, records, time)
}

/**
 * The declaration under which the call may run, or the reason why it never does. The last two
 * checks repeat the validator's: a call that cannot be judged does not run (R6).
 */
function admission(
  { turn, policy, isLate }: { turn: Turn; policy: Policy; isLate: boolean },
  call: Call,
  declaration: Declaration | undefined,
): Declaration | CallEnding {
  if (turn.cancelled) return notRun('cancelled', false)
  if (isLate) return notRun('expired', false)
  const stop = stopOfCall(policy.stops, call.name)
  if (stop !== undefined) return stoppedCall(stop, false)
  if (declaration === undefined) return denied(notOffered, 'tool not offered')
  const isOnce = onceRuleOf(declaration) !== undefined
  if (isOnce && modeAmong(policy.guards, { guard: onceGuard, tool: call.name }) === undefined)
    return denied(withoutOnce, 'guard once not in force')
  // A call without arguments is valid for a tool without parameters: the validator's explicit rule
  // (I1.1).
  if (call.problem !== null && call.problem !== 'no_arguments')
    return denied(notWhole, 'arguments did not arrive whole')
  return declaration
}

/** Applies a record to its round, if that is open. */
function inRound(
  turn: Turn | undefined,
  message: { round: number },
  time: Milliseconds,
  apply: (turn: Turn, round: Round) => Output[],
): Reaction<Turn> {
  const round = turn?.rounds.find(({ round }) => round === message.round)
  if (turn === undefined || round === undefined) return { state: turn }
  return reportFinishedRounds(turn, apply(turn, round), time)
}

/** Applies a record to the claim that it names, if that is in force. */
function ofClaim(
  turn: Turn | undefined,
  message: Pick<TryId, 'round' | 'ordinal' | 'try'> & { owner: string },
  time: Milliseconds,
  apply: (claim: ClaimInForce) => Output[],
): Reaction<Turn> {
  const found = findCall(turn, message)
  const phase = found?.open.phase
  if (turn === undefined || found === undefined || phase?.kind !== 'claimed') return { state: turn }
  if (phase.try !== message.try || phase.owner !== message.owner) return { state: turn }
  return reportFinishedRounds(turn, apply({ turn, ...found, phase }), time)
}

function onCancel(turn: Turn, message: Cancel, time: Milliseconds): Reaction<Turn> {
  turn.cancelled = true
  turn.closesAt = Math.max(turn.closesAt, message.expiresAt)
  const records: Output[] = []
  for (const round of turn.rounds) {
    records.push(...finishWaitingCalls(turn, round, 'cancelled'))
    for (const open of round.calls) {
      const { phase } = open
      if (phase.kind === 'ready' && phase.goesOn) open.phase = ofNobody(phase, time)
      else if (phase.kind === 'ready')
        records.push(finishCall(turn, round, open, notRun('cancelled', phase.lapsed)))
      else if (phase.kind === 'claimed') records.push(...stopClaimed({ turn, round, open, phase }))
    }
  }
  return reportFinishedRounds(turn, records, time)
}

function onClaim(turn: Turn | undefined, message: Claim, time: Milliseconds): Reaction<Turn> {
  const found = findCall(turn, message)
  if (found === undefined) return { state: turn }
  const { round, open } = found
  const { phase } = open
  if (phase.kind !== 'ready' || phase.try !== message.try || time >= round.expiresAt)
    return { state: turn }
  if (time < (phase.claimsAt ?? time)) return { state: turn }
  const { claimsAt: _, ...ready } = phase
  const claimed = { ...ready, kind: 'claimed' as const, owner: message.owner, time }
  open.phase = { ...claimed, cancelled: false }
  const until = claimDeadline(round, open.phase)
  return { state: turn, records: offered(message, { name: open.call.name, until }) }
}

function applyOutcome(claim: ClaimInForce, outcome: Outcome, time: Milliseconds): Output[] {
  const { turn, round, open, phase } = claim
  if (outcome.result !== null) {
    // The owner of this try knows only this try.
    const isDenied = phase.lapsed && promisesNeverRan(outcome.result.status)
    return [finishCall(turn, round, open, isDenied ? refusedAgain : outcome.result)]
  }
  if (outcome.goesOn === true) Object.assign(phase, { lapsed: true, goesOn: true })
  if (phase.goesOn && phase.cancelled && phase.stop === undefined) {
    open.phase = ofNobody(phase, time)
    return []
  }
  const ending = endingOfReturned(phase, time >= round.expiresAt)
  if (ending !== undefined) return [finishCall(turn, round, open, ending)]
  const { declaration, lapsed, goesOn } = phase
  const returned = (phase.returned ?? 0) + (outcome.goesOn === null ? 0 : 1)
  if (returned > callReturnsMax) return [finishCall(turn, round, open, givenBack(lapsed))]
  const pauseMs = outcome.goesOn === null ? 0 : pauseAfter(returned)
  const wait = pauseMs > 0 && { claimsAt: time + pauseMs }
  const next = { declaration, try: phase.try + 1, lapsed, returned, ...(goesOn && { goesOn }) }
  open.phase = { kind: 'ready', ...next, ...wait }
  return []
}

/**
 * A cancelled call whose agent goes on without an owner. The performer cancels the agent's turn, and
 * reports that the claim has lapsed (left-claims.ts).
 */
function ofNobody(
  { declaration, try: number, lapsed, returned }: Extract<Phase, { kind: 'ready' | 'claimed' }>,
  time: Milliseconds,
): Claimed {
  const call = { declaration, try: number, lapsed, ...(returned !== undefined && { returned }) }
  return { kind: 'claimed', ...call, owner: nobody, time, cancelled: true }
}

/** None after the first return: an owner that shuts down leaves its calls to the next one. */
function pauseAfter(returned: number): Milliseconds {
  if (returned === 1) return 0
  return Math.min(callReturnPauseMsMax, callReturnPauseMs * 2 ** (returned - 2))
}

const refusedAgain = outcomeUnknown(
  earlierTry('a further one was refused'),
  'no result of an earlier try',
)

/** The end of a call that its owners gave back too often (R7). */
function givenBack(lapsed: boolean): CallEnding {
  return lapsed
    ? outcomeUnknown(earlierTry('a further one could not start'), 'no result of an earlier try')
    : { status: 'skipped', text: neverBegan, reason: 'the executor gave it back too often' }
}

/** The end of a claim that was given back. Undefined: the call can be claimed again. */
function endingOfReturned(phase: Claimed, isExpired: boolean): CallEnding | undefined {
  if (phase.stop !== undefined) return stoppedCall(phase.stop, phase.lapsed)
  if (phase.cancelled) return notRun('cancelled', phase.lapsed)
  return isExpired ? notRun('expired', phase.lapsed) : undefined
}

function onEnd(turn: Turn, message: Outcome | ResultSent, time: Milliseconds): Reaction<Turn> {
  return reportFinishedRounds(turn, applyEnd(turn, message, time), time)
}

const lapsed = outcomeUnknown(runnerGone, 'its executor ended without a result')

function onTick(turn: Turn | undefined, time: Milliseconds): Reaction<Turn> {
  if (turn === undefined) return closed
  const records: Output[] = []
  for (const round of turn.rounds) {
    records.push(...endOverdueWaits(turn, round, time))
    for (const open of round.calls) {
      const { phase } = open
      if (time < (deadlineOf(round, open) ?? Number.POSITIVE_INFINITY)) continue
      if (phase.kind === 'ready' && time < round.expiresAt) delete phase.claimsAt
      else if (phase.kind === 'ready')
        records.push(finishCall(turn, round, open, notRun('expired', phase.lapsed)))
      else if (phase.kind === 'claimed')
        records.push(...retryOrFinish({ turn, round, open, phase }, time, noResultInTime))
    }
  }
  return reportFinishedRounds(turn, records, time)
}

/** The claim's deadline has passed: retries an idempotent call, otherwise finishes it. */
function retryOrFinish(
  { turn, round, open, phase }: ClaimInForce,
  time: Milliseconds,
  ending: CallEnding,
): Output[] {
  const again =
    phase.declaration.idempotent &&
    !runsOutside(phase.owner) &&
    phase.try < round.policy.toolTries &&
    !phase.cancelled &&
    time < round.expiresAt
  if (!again) return [finishCall(turn, round, open, ending)]
  open.phase = { kind: 'ready', declaration: phase.declaration, try: phase.try + 1, lapsed: true }
  return []
}

/** Reports the finished rounds. Closes an expired turn with no open round. */
function reportFinishedRounds(turn: Turn, records: Output[], time: Milliseconds): Reaction<Turn> {
  const { conversation } = turn
  for (const round of turn.rounds) {
    records.push(...withdrawOffers(turn, round), ...askForApproval(turn, round))
    releaseCalls(turn, round, time)
  }
  records.push(...changedVerdicts(turn))
  const ended = turn.rounds.filter(({ callsLeft }) => callsLeft === 0)
  for (const { round, calls, interventions } of ended) {
    const results = calls.flatMap(({ phase }) => (phase.kind === 'done' ? [phase.result] : []))
    records.push({
      to: 'verdict',
      message: {
        type: 'round-executed',
        conversation,
        turn: turn.turn,
        round,
        results,
        wishes: interventions,
      },
    })
  }
  // Last, so the ids of the other records are those of an earlier Weir (R3).
  records.push(...ended.flatMap((round) => auditsOf(turn, round, time)))
  turn.rounds = turn.rounds.filter(({ callsLeft }) => callsLeft > 0)
  const over = turn.rounds.length === 0 && time >= turn.closesAt
  return { state: over ? undefined : turn, records }
}

/** The next deadline of the call: of a guard, of its expiry, or of its claim. */
function deadlineOf(round: Round, { phase }: OpenCall): Milliseconds | undefined {
  const { expiresAt, guards } = round
  switch (phase.kind) {
    case 'waiting':
      return Math.min(expiresAt, ...guards.map(({ due }) => due))
    case 'ready':
      return Math.min(expiresAt, phase.claimsAt ?? expiresAt)
    case 'claimed':
      return claimDeadline(round, phase)
    case 'done':
      return undefined
    default:
      return unreachable(phase)
  }
}
