// Executor: runs the calls of a cleared round and gives each exactly one result.
// Owns: who may start a call, when a call counts as lost, and the round's results. Does not own: starting and stopping processes (performer.ts),
// judging calls and results (loop-detector). Guards that a round waits for will be a phase before `ready`.
// E1. The log is the lock (R4): the first claim of a ready call wins, and only an outcome of that claim (try, owner) is its outcome.
// E2. A call is done once, and a round leaves as one record when all its calls are done (R5).
// E3. `skipped` and `rejected` mean that no try ever ran: a try that lapsed may have run, so what follows it is outcome_unknown at best.
// E4. A claimed call is never skipped, whatever is cancelled or expires: its owner may be starting it now. Its outcome or its deadline decides.
// E5. Nothing becomes ready, and no claim is accepted, at or after the round's expiresAt (R6). Time is append time (R2).
// E6. A cancel is remembered until the turn expires, because it can overtake the round that it is meant for.

import { argumentText } from '../../shared/call.ts'
import type { CallEnding } from '../../shared/call-endings.ts'
import { noResultInTime, outcomeUnknown } from '../../shared/call-endings.ts'
import type { Milliseconds } from '../../shared/clock.ts'
import { limits } from '../../shared/limits.ts'
import type { Call, CallResult, Cancel, Claim, Declaration, Lapsed, Outcome, RoundCleared, Tick, TurnEnded } from '../../shared/messages.ts'
import type { Output, Reaction, Stage } from '../../shared/stage.ts'
import { closed, unreachable } from '../../shared/stage.ts'
import { toolTimeout } from '../../shared/tool-deadline.ts'
import { bounded, bytesOf, notRun, rejected, saysNeverRan } from './results.ts'

type Inbox = RoundCleared | TurnEnded | Cancel | Claim | Outcome | Lapsed | Tick

/** An open turn: while a round runs, between its rounds, or only a cancel that must not be forgotten. */
export type Turn = {
  conversation: string
  turn: number
  cancelled: boolean
  /** Rounds of a turn come in order, so what is not above this is a repeat. */
  roundNewest: number
  /** Those with calls that are not done. */
  rounds: Round[]
  /** When the turn is forgotten if nothing of it is open: the latest expiresAt seen. */
  closesAt: Milliseconds
}

/** callsLeft: those that are not done; resultBytesLeft: what their results may take together (R7). */
type Round = Pick<RoundCleared, 'round' | 'agent' | 'policy' | 'expiresAt'> & {
  calls: OpenCall[]
  callsLeft: number
  resultBytesLeft: number
}

type OpenCall = { call: Call; phase: Phase }

/** lapsed: the deadline of an earlier try has passed, so it may have run. time: when the claim was appended. */
export type Phase =
  | { kind: 'ready'; declaration: Declaration; try: number; lapsed: boolean }
  | { kind: 'claimed'; declaration: Declaration; try: number; lapsed: boolean; owner: string; time: Milliseconds; cancelled: boolean }
  | { kind: 'done'; result: CallResult }

/** A try of a call. */
export type CallTry = { conversation: string; turn: number; round: number; ordinal: number; try: number }

/** What a performer is asked for: to claim a try, or to run the one that `owner` has claimed, or to stop it when it is cancelled. */
export type ToolTask = CallTry & { expiresAt: Milliseconds } & (
    | { kind: 'claim'; agent: string; tool: string }
    | {
        kind: 'run'
        owner: string
        cancelled: boolean
        agent: string
        declaration: Declaration
        /** The JSON text that the tool gets. */
        arguments: string
        startWithinMs: Milliseconds
        timeoutMs: Milliseconds
        graceMs: Milliseconds
        /** The same for all tries of this call, and for no other call. */
        idempotencyKey: string
      }
  )

export const executor: Stage<Turn, Inbox, ToolTask> = {
  name: 'executor',

  unit(message) {
    return message.type === 'tick' ? message.unit : JSON.stringify([message.conversation, message.turn])
  },

  react(turn, { message, time }) {
    switch (message.type) {
      case 'round-cleared':
        return clear(turn ?? opened(message), message, time)
      case 'cancel':
        return cancel(turn ?? opened(message), message, time)
      case 'turn-ended':
        return closed
      case 'claim':
        return accept(turn, message, time)
      case 'outcome':
        return conclude(turn, message, time)
      case 'lapsed':
        return giveUp(turn, message, time)
      case 'tick':
        return look(turn, time)
      default:
        return unreachable(message)
    }
  },

  wants: (turn) => turn.rounds.flatMap((round) => round.calls.flatMap((call) => taskOf(turn, round, call) ?? [])),

  due(turn) {
    const times = turn.rounds.flatMap((round) => round.calls.flatMap((call) => deadlineOf(round, call) ?? []))
    return times.length === 0 ? turn.closesAt : Math.min(...times)
  },

  /** What runs is stopped, because the unit is gone; the conversation, told by the runtime, says that calls may have run (R8). */
  failed: () => closed,
}

function opened({ conversation, turn }: RoundCleared | Cancel): Turn {
  return { conversation, turn, cancelled: false, roundNewest: 0, rounds: [], closesAt: 0 }
}

function clear(turn: Turn, message: RoundCleared, time: Milliseconds): Reaction<Turn> {
  if (message.round <= turn.roundNewest) return { state: turn }
  const { agent, policy, expiresAt } = message
  const calls = message.calls.toSorted((a, b) => a.ordinal - b.ordinal)
  const counts = { callsLeft: calls.length, resultBytesLeft: limits.roundResultsBytesMax }
  const round: Round = { round: message.round, agent, policy, expiresAt, calls: [], ...counts }
  turn.roundNewest = message.round
  turn.closesAt = Math.max(turn.closesAt, expiresAt)
  turn.rounds.push(round)

  const decided = new Map(message.decided.map((result) => [result.ordinal, result]))
  const declarations = new Map(message.declarations.map((declaration) => [declaration.name, declaration]))
  const records: Output[] = []
  for (const call of calls) {
    const ridesAlong = decided.get(call.ordinal)
    const start = ridesAlong ?? admission(turn, round, call, declarations.get(call.name), time)
    if (!('status' in start)) {
      round.calls.push({ call, phase: { kind: 'ready', declaration: start, try: 1, lapsed: false } })
      continue
    }
    const result = finish(round, { durationMs: 0, ...start, ordinal: call.ordinal })
    round.calls.push({ call, phase: { kind: 'done', result } })
    if (ridesAlong === undefined) records.push(callFinished(turn, round, call, result))
  }
  return settle(turn, records, time)
}

/** The declaration under which the call may run, or why it never will. The last two repeat the validator's job: what cannot be judged does not run (R6). */
function admission(
  turn: Turn,
  round: Round,
  call: Call,
  declaration: Declaration | undefined,
  time: Milliseconds,
): Declaration | CallEnding {
  if (turn.cancelled) return notRun('cancelled', false)
  if (time >= round.expiresAt) return notRun('expired', false)
  if (declaration === undefined) return rejected('this tool was not offered.', 'tool not offered')
  // A tool without parameters may be called without a byte of arguments; that was the validator's explicit rule (I1.1).
  if (call.problem !== null && call.problem !== 'no_arguments')
    return rejected('its arguments did not arrive whole.', 'arguments did not arrive whole')
  return declaration
}

function cancel(turn: Turn, message: Cancel, time: Milliseconds): Reaction<Turn> {
  turn.cancelled = true
  turn.closesAt = Math.max(turn.closesAt, message.expiresAt)
  const records: Output[] = []
  for (const round of turn.rounds) {
    for (const open of round.calls) {
      const { phase } = open
      if (phase.kind === 'ready') records.push(decide(turn, round, open, notRun('cancelled', phase.lapsed)))
      else if (phase.kind === 'claimed') phase.cancelled = true // keeps E4
    }
  }
  return settle(turn, records, time)
}

function accept(turn: Turn | undefined, message: Claim, time: Milliseconds): Reaction<Turn> {
  const found = find(turn, message)
  if (found === undefined) return { state: turn }
  const { round, open, phase } = found
  if (phase.kind === 'ready' && phase.try === message.try && time < round.expiresAt)
    open.phase = { ...phase, kind: 'claimed', owner: message.owner, time, cancelled: false }
  return { state: turn }
}

function conclude(turn: Turn | undefined, message: Outcome, time: Milliseconds): Reaction<Turn> {
  const found = find(turn, message)
  if (turn === undefined || found === undefined || !isClaimOf(found.phase, message)) return { state: turn }
  const { round, open, phase } = found
  const { result } = message

  if (result === null) {
    const why = phase.cancelled ? 'cancelled' : time >= round.expiresAt ? 'expired' : undefined
    if (why !== undefined) return settle(turn, [decide(turn, round, open, notRun(why, phase.lapsed))], time)
    open.phase = { kind: 'ready', declaration: phase.declaration, try: phase.try + 1, lapsed: phase.lapsed }
    return { state: turn }
  }
  if (phase.lapsed && saysNeverRan(result.status)) {
    // The owner of this try knows only of this try; keeps E3.
    const what = 'An earlier try of this call gave no result, and a further one was refused.'
    return settle(turn, [decide(turn, round, open, outcomeUnknown(what, 'no result of an earlier try'))], time)
  }
  return settle(turn, [decide(turn, round, open, result)], time)
}

function giveUp(turn: Turn | undefined, message: Lapsed, time: Milliseconds): Reaction<Turn> {
  const found = find(turn, message)
  if (turn === undefined || found === undefined || !isClaimOf(found.phase, message)) return { state: turn }
  const ending = outcomeUnknown('What ran this call ended without giving its result.', 'its executor ended without a result')
  return settle(turn, lapse(turn, found.round, found.open, found.phase, time, ending), time)
}

function look(turn: Turn | undefined, time: Milliseconds): Reaction<Turn> {
  if (turn === undefined) return closed
  const records: Output[] = []
  for (const round of turn.rounds) {
    for (const open of round.calls) {
      const { phase } = open
      if (time < (deadlineOf(round, open) ?? Number.POSITIVE_INFINITY)) continue
      if (phase.kind === 'ready') records.push(decide(turn, round, open, notRun('expired', phase.lapsed)))
      else if (phase.kind === 'claimed') records.push(...lapse(turn, round, open, phase, time, noResultInTime))
    }
  }
  return settle(turn, records, time)
}

/** The claim's time is over: once more if that can do no harm, else nobody will ever know. */
function lapse(turn: Turn, round: Round, open: OpenCall, phase: Claimed, time: Milliseconds, ending: CallEnding): Output[] {
  const again = phase.declaration.idempotent && phase.try < round.policy.toolTries && !phase.cancelled && time < round.expiresAt
  if (!again) return [decide(turn, round, open, ending)]
  open.phase = { kind: 'ready', declaration: phase.declaration, try: phase.try + 1, lapsed: true }
  return []
}

/** Reports the rounds that are done, and closes the turn when nothing of it can come any more. */
function settle(turn: Turn, records: Output[], time: Milliseconds): Reaction<Turn> {
  const { conversation } = turn
  for (const { round, calls, callsLeft } of turn.rounds) {
    if (callsLeft > 0) continue
    const results = calls.flatMap(({ phase }) => (phase.kind === 'done' ? [phase.result] : []))
    records.push({ to: 'verdict', message: { type: 'round-executed', conversation, turn: turn.turn, round, results } })
  }
  turn.rounds = turn.rounds.filter(({ callsLeft }) => callsLeft > 0)
  const over = turn.rounds.length === 0 && time >= turn.closesAt
  return { state: over ? undefined : turn, records }
}

/** Makes the call done; returns the line of activity that says so. */
function decide(turn: Turn, round: Round, open: OpenCall, ending: CallEnding | CallResult): Output {
  const result = finish(round, { durationMs: 0, ...ending, ordinal: open.call.ordinal })
  open.phase = { kind: 'done', result }
  return callFinished(turn, round, open.call, result)
}

/**
 * Books one result on the round's account, cut where it is over its bounds (R7): each may take an equal part of what is left for the calls that
 * are not done, so that whoever comes last still has room.
 */
function finish(round: Round, result: CallResult): CallResult {
  const within = bounded(result, Math.floor(round.resultBytesLeft / round.callsLeft))
  round.resultBytesLeft -= bytesOf(within)
  round.callsLeft -= 1
  return within
}

function callFinished({ conversation, turn }: Turn, { round }: Round, { ordinal, name }: Call, result: CallResult): Output {
  const { status, reason, durationMs } = result
  return { to: 'activity', message: { type: 'call-finished', conversation, turn, round, ordinal, name, status, reason, durationMs } }
}

type Claimed = Extract<Phase, { kind: 'claimed' }>

function isClaimOf(phase: Phase, of: { try: number; owner: string }): phase is Claimed {
  return phase.kind === 'claimed' && phase.try === of.try && phase.owner === of.owner
}

function find(turn: Turn | undefined, at: CallTry): { round: Round; open: OpenCall; phase: Phase } | undefined {
  const round = turn?.rounds.find((round) => round.round === at.round)
  const open = round?.calls.find(({ call }) => call.ordinal === at.ordinal)
  return round && open && { round, open, phase: open.phase }
}

/** When the call moves though nothing came: nobody may claim it any more, or its claim is lost. */
function deadlineOf({ expiresAt, policy }: Round, { phase }: OpenCall): Milliseconds | undefined {
  switch (phase.kind) {
    case 'ready':
      return expiresAt
    case 'claimed':
      return phase.time + policy.startWithinMs + toolTimeout(phase.declaration) + policy.graceMs
    case 'done':
      return undefined
    default:
      return unreachable(phase)
  }
}

function taskOf({ conversation, turn }: Turn, { round, agent, policy, expiresAt }: Round, { call, phase }: OpenCall): ToolTask | undefined {
  if (phase.kind === 'done') return undefined
  const callTry = { conversation, turn, round, ordinal: call.ordinal, try: phase.try, expiresAt }
  if (phase.kind === 'ready') return { kind: 'claim', ...callTry, agent, tool: call.name }
  const { owner, cancelled, declaration } = phase
  return {
    kind: 'run',
    ...callTry,
    owner,
    cancelled,
    agent,
    declaration,
    arguments: argumentText(call),
    startWithinMs: policy.startWithinMs,
    timeoutMs: toolTimeout(declaration),
    graceMs: policy.graceMs,
    idempotencyKey: JSON.stringify([conversation, turn, round, call.ordinal]),
  }
}
