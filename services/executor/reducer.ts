// Executor: runs the calls of a cleared round and gives each exactly one result.
// Reads: rounds-cleared.
// Writes: `round-executed` to rounds-checked, `approval-asked` and `approval-withdrawn` to approvals,
// `calls-waiting`, `guard-verdict-given`, `guest-verdicts`, `call-offered` and `call-finished` to
// activity.
// Owns: the guards that a call waits for (guards/waiting.ts), the claim that may start a call, when
// a call counts as lost, the round's results. The calls of guests are in guest-calls.ts, those of
// clients in client-calls.ts, the questions of tools to a person in input-questions.ts.
// Does not own: starting and stopping processes (performer.ts), fetching verdicts
// (verdict-relay.ts), judging calls and results (guards, loop-detector), the stops of an operator
// (stops.ts).
//
// EXEC-1. The log is the lock (R4): the first claim of a ready call wins, and only an outcome of
//     that claim (try, owner) is its outcome.
// EXEC-2. A call is done once, and a round leaves as one record when all its calls are done (R5).
//     Its results never deny a try that may have run (RESULTS-1).
// EXEC-3. No cancel and no deadline of the round skips a claimed call: its owner may be starting it
//     now. Its outcome or its deadline decides. A cancelled call of a client has an unknown outcome.
// EXEC-4. Nothing becomes ready, and no claim is accepted, at or after the round's expiresAt (R6).
//     Time is append time (R2).
// EXEC-5. A cancel can overtake its round, so it is remembered until the turn expires. Each round
//     arrives before then; one that waits for slow guards may run longer.

import {
  type CallEnding,
  noResultInTime,
  outcomeUnknown,
  promisesNeverRan,
} from '../../shared/contract/call/call-endings.ts'
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
import { clientOwner, guestOwner, isGuest } from '../../shared/contract/topology.ts'
import type { Milliseconds } from '../../shared/lib/clock.ts'
import { cutToBytes } from '../../shared/lib/text-cut.ts'
import { earlierTry, runnerGone } from '../../shared/model-texts/endings.ts'
import { notOffered, notWhole } from '../../shared/model-texts/refused-calls.ts'
import { stopOfCall, stoppedCall } from '../../shared/runtime/stops.ts'
import { cancelledAtClient, offered, resultOf } from './client-calls.ts'
import {
  applyPrograms,
  askForApproval,
  forbidPrograms,
  withdrawAll,
  withdrawApproval,
} from './guards/approval-asking.ts'
import { findHolders, releaseCalls } from './guards/held-calls.ts'
import {
  applyVerdict,
  callsWaiting,
  endOverdueWaits,
  finishWaitingCalls,
  phaseOf,
} from './guards/waiting.ts'
import {
  applyEarly,
  applyGuestOutcome,
  changedVerdicts,
  isOfGuest,
  verdictsOf,
} from './guest-calls.ts'
import { applyInput, requestInput, withdrawAllInputs, withdrawInputs } from './input-questions.ts'
import { notRun, rejected } from './results.ts'
import { applyStop } from './stops.ts'
import { type ExecutorTask, tasksOf } from './tasks.ts'
import {
  callFinished,
  chargeResult,
  claimDeadline,
  finishCall,
  type OpenCall,
  opened,
  type Phase,
  type Round,
  type Turn,
} from './turn.ts'

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
        return onVerdict(turn, message, time)
      case 'programs-hashed':
        return onPrograms(turn, message, time)
      case 'calls-stopped':
        return onStopped(turn, message, time)
      case 'input-requested':
        return onInputRequested(turn, message, time)
      case 'input-given':
        return onInputGiven(turn, message, time)
      case 'claim':
        return onClaim(turn, message, time)
      case 'outcome':
        return isOfGuest(message)
          ? onGuestOutcome(turn ?? opened(message), message, time)
          : onOutcome(turn, message, time)
      case 'result-sent':
        return onResult(turn, message, time)
      case 'lapsed':
        return onLapsed(turn, message, time)
      case 'verdicts-requested':
        return onVerdictsRequested(turn, message)
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
    records:
      turn === undefined
        ? []
        : [...withdrawAll(turn, failure), ...withdrawAllInputs(turn, failure)],
  }),
}

const failure = 'an internal failure ended its turn'

function onCleared(turn: Turn, message: RoundCleared, time: Milliseconds): Reaction<Turn> {
  if (message.round <= turn.roundNewest) return { state: turn }
  const { agent } = message
  // Weir does not run a guest's call, so no program can be bound to its approval.
  const policy = isGuest(turn.conversation)
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
    pendingApprovals: [],
    isApprovalRequested: false,
    holders: [],
    programsKnown: false,
    inputs: 0,
    openInputs: [],
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
  const isLate = time >= message.expiresAt // even if it is extended (keeps EXEC-5)
  for (const call of calls) {
    const ridesAlong = decided.get(call.ordinal)
    const start =
      ridesAlong ?? admission({ turn, policy, isLate }, call, declarations.get(call.name))
    if (!('status' in start)) {
      round.calls.push({ call, phase: phaseOf(round, call, start) })
      continue
    }
    const result = chargeResult(round, {
      durationMs: 0,
      contents: [],
      tokens: null,
      ...start,
      ordinal: call.ordinal,
    })
    round.calls.push({ call, phase: { kind: 'done', result } })
    if (ridesAlong === undefined) records.push(callFinished(turn, round, call, result))
  }
  findHolders(round)
  releaseCalls(turn, round, time)
  records.push(...applyEarly(turn, round))
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
  if (declaration === undefined) return rejected(notOffered, 'tool not offered')
  // A call without arguments is valid for a tool without parameters: the validator's explicit rule
  // (I1.1).
  if (call.problem !== null && call.problem !== 'no_arguments')
    return rejected(notWhole, 'arguments did not arrive whole')
  return declaration
}

function onVerdict(
  turn: Turn | undefined,
  message: GuardVerdict,
  time: Milliseconds,
): Reaction<Turn> {
  const round = turn?.rounds.find(({ round }) => round === message.round)
  if (turn === undefined || round === undefined) return { state: turn }
  return reportFinishedRounds(turn, applyVerdict(turn, round, message, time), time)
}

function onPrograms(
  turn: Turn | undefined,
  message: ProgramsHashed,
  time: Milliseconds,
): Reaction<Turn> {
  const round = turn?.rounds.find(({ round }) => round === message.round)
  if (turn === undefined || round === undefined) return { state: turn }
  applyPrograms(round, message)
  return reportFinishedRounds(turn, [], time)
}

function onStopped(
  turn: Turn | undefined,
  message: CallsStopped,
  time: Milliseconds,
): Reaction<Turn> {
  const round = turn?.rounds.find(({ round }) => round === message.round)
  if (turn === undefined || round === undefined) return { state: turn }
  return reportFinishedRounds(turn, applyStop(turn, round, message), time)
}

function onInputRequested(
  turn: Turn | undefined,
  message: InputRequested,
  time: Milliseconds,
): Reaction<Turn> {
  const found = findCall(turn, message)
  if (turn === undefined || found === undefined || !isClaimOf(found.phase, message))
    return { state: turn }
  const { round, open, phase } = found
  return { state: turn, records: requestInput(turn, round, { ...open, phase }, message, time) }
}

function onInputGiven(
  turn: Turn | undefined,
  message: InputGiven,
  time: Milliseconds,
): Reaction<Turn> {
  const round = turn?.rounds.find(({ round }) => round === message.round)
  if (turn === undefined || round === undefined) return { state: turn }
  applyInput(round, message)
  return reportFinishedRounds(turn, [], time)
}

function onCancel(turn: Turn, message: Cancel, time: Milliseconds): Reaction<Turn> {
  turn.cancelled = true
  turn.closesAt = Math.max(turn.closesAt, message.expiresAt)
  const records: Output[] = []
  for (const round of turn.rounds) {
    records.push(...finishWaitingCalls(turn, round, 'cancelled'))
    for (const open of round.calls) {
      const { phase } = open
      if (phase.kind === 'ready')
        records.push(finishCall(turn, round, open, notRun('cancelled', phase.lapsed)))
      else if (phase.kind === 'claimed' && phase.owner === clientOwner)
        records.push(finishCall(turn, round, open, cancelledAtClient))
      else if (phase.kind === 'claimed') phase.cancelled = true // keeps EXEC-3
    }
  }
  return reportFinishedRounds(turn, records, time)
}

function onClaim(turn: Turn | undefined, message: Claim, time: Milliseconds): Reaction<Turn> {
  const found = findCall(turn, message)
  if (found === undefined) return { state: turn }
  const { round, open, phase } = found
  if (phase.kind !== 'ready' || phase.try !== message.try || time >= round.expiresAt)
    return { state: turn }
  const claimed = { ...phase, kind: 'claimed' as const, owner: message.owner, time }
  open.phase = { ...claimed, cancelled: false }
  if (message.owner !== clientOwner) return { state: turn }
  return {
    state: turn,
    records: [offered(message, open.call.name, claimDeadline(round, open.phase))],
  }
}

function onOutcome(turn: Turn | undefined, message: Outcome, time: Milliseconds): Reaction<Turn> {
  const found = findCall(turn, message)
  if (turn === undefined || found === undefined || !isClaimOf(found.phase, message))
    return { state: turn }
  const { round, open, phase } = found
  const { result } = message

  if (result === null) {
    const ending = endingOfReturned(phase, time >= round.expiresAt)
    if (ending !== undefined)
      return reportFinishedRounds(turn, [finishCall(turn, round, open, ending)], time)
    open.phase = {
      kind: 'ready',
      declaration: phase.declaration,
      try: phase.try + 1,
      lapsed: phase.lapsed,
    }
    return { state: turn }
  }
  if (phase.lapsed && promisesNeverRan(result.status)) {
    // The owner of this try knows only this try; keeps RESULTS-1.
    const what = earlierTry('a further one was refused')
    return reportFinishedRounds(
      turn,
      [finishCall(turn, round, open, outcomeUnknown(what, 'no result of an earlier try'))],
      time,
    )
  }
  return reportFinishedRounds(turn, [finishCall(turn, round, open, result)], time)
}

/** The end of a claim that was given back. Undefined: the call can be claimed again. */
function endingOfReturned(phase: Claimed, isExpired: boolean): CallEnding | undefined {
  if (phase.stop !== undefined) return stoppedCall(phase.stop, phase.lapsed)
  if (phase.cancelled) return notRun('cancelled', phase.lapsed)
  return isExpired ? notRun('expired', phase.lapsed) : undefined
}

/** Keeps GUEST-CALLS-2 and GUEST-CALLS-3. */
function onGuestOutcome(turn: Turn, message: Outcome, time: Milliseconds): Reaction<Turn> {
  return reportFinishedRounds(turn, applyGuestOutcome(turn, message, time), time)
}

/** Keeps CLIENT-CALLS-2: the first result before the deadline counts, however late the tick. */
function onResult(turn: Turn | undefined, message: ResultSent, time: Milliseconds): Reaction<Turn> {
  const found = findCall(turn, message)
  if (turn === undefined || found === undefined) return { state: turn }
  const { round, open, phase } = found
  if (phase.kind !== 'claimed' || phase.owner !== clientOwner) return { state: turn }
  if (time >= claimDeadline(round, phase)) return { state: turn }
  const result = resultOf(message, Math.max(0, time - phase.time))
  const resultId = cutToBytes(message.resultId, limits.messageIdBytesMax)
  const finished = finishCall(turn, round, open, result, resultId)
  return reportFinishedRounds(turn, [finished], time)
}

function onVerdictsRequested(turn: Turn | undefined, message: VerdictsRequested): Reaction<Turn> {
  const round = turn?.rounds.find(({ round }) => round === message.round)
  if (turn === undefined || round === undefined) return { state: turn }
  return { state: turn, records: [verdictsOf(turn, round)] }
}

function onLapsed(turn: Turn | undefined, message: Lapsed, time: Milliseconds): Reaction<Turn> {
  const found = findCall(turn, message)
  if (turn === undefined || found === undefined || !isClaimOf(found.phase, message))
    return { state: turn }
  const ending = outcomeUnknown(runnerGone, 'its executor ended without a result')
  return reportFinishedRounds(
    turn,
    retryOrFinish(turn, found.round, found.open, found.phase, time, ending),
    time,
  )
}

function onTick(turn: Turn | undefined, time: Milliseconds): Reaction<Turn> {
  if (turn === undefined) return closed
  const records: Output[] = []
  for (const round of turn.rounds) {
    records.push(...endOverdueWaits(turn, round, time))
    for (const open of round.calls) {
      const { phase } = open
      if (time < (deadlineOf(round, open) ?? Number.POSITIVE_INFINITY)) continue
      if (phase.kind === 'ready')
        records.push(finishCall(turn, round, open, notRun('expired', phase.lapsed)))
      else if (phase.kind === 'claimed')
        records.push(...retryOrFinish(turn, round, open, phase, time, noResultInTime))
    }
  }
  return reportFinishedRounds(turn, records, time)
}

/** The claim's deadline has passed: retries an idempotent call, otherwise finishes it. */
function retryOrFinish(
  turn: Turn,
  round: Round,
  open: OpenCall,
  phase: Claimed,
  time: Milliseconds,
  ending: CallEnding,
): Output[] {
  const again =
    phase.declaration.idempotent &&
    phase.owner !== guestOwner &&
    phase.owner !== clientOwner &&
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
    records.push(...withdrawApproval(turn, round), ...askForApproval(turn, round))
    records.push(...withdrawInputs(turn, round))
    releaseCalls(turn, round, time)
  }
  records.push(...changedVerdicts(turn))
  for (const { round, calls, callsLeft, interventions } of turn.rounds) {
    if (callsLeft > 0) continue
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
  turn.rounds = turn.rounds.filter(({ callsLeft }) => callsLeft > 0)
  const over = turn.rounds.length === 0 && time >= turn.closesAt
  return { state: over ? undefined : turn, records }
}

type Claimed = Extract<Phase, { kind: 'claimed' }>

function isClaimOf(phase: Phase, of: { try: number; owner: string }): phase is Claimed {
  return phase.kind === 'claimed' && phase.try === of.try && phase.owner === of.owner
}

function findCall(
  turn: Turn | undefined,
  at: Pick<TryId, 'round' | 'ordinal'>,
): { round: Round; open: OpenCall; phase: Phase } | undefined {
  const round = turn?.rounds.find((round) => round.round === at.round)
  const open = round?.calls.find(({ call }) => call.ordinal === at.ordinal)
  return round && open && { round, open, phase: open.phase }
}

/** The next deadline of the call: of a guard, of its expiry, or of its claim. */
function deadlineOf(round: Round, { phase }: OpenCall): Milliseconds | undefined {
  const { expiresAt, guards } = round
  switch (phase.kind) {
    case 'waiting':
      return Math.min(expiresAt, ...guards.map(({ due }) => due))
    case 'ready':
      return expiresAt
    case 'claimed':
      return claimDeadline(round, phase)
    case 'done':
      return undefined
    default:
      return unreachable(phase)
  }
}
