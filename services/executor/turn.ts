// An open turn of the executor, and the result of each of its calls. All state of the reducer is
// described here.

import { type CallEnding, resultWith } from '../../shared/contract/call/call-endings.ts'
import type { CallId, TurnId } from '../../shared/contract/ids.ts'
import { limits } from '../../shared/contract/limits.ts'
import type {
  Call,
  CallFinished,
  CallResult,
  Declaration,
  GuardWish,
  InputGiven,
  Outcome,
  RoundCleared,
  StopInForce,
} from '../../shared/contract/messages.ts'
import { valueCharactersMax } from '../../shared/contract/redaction/value-pattern.ts'
import type { Output } from '../../shared/contract/stage.ts'
import { clientOwner, guestOwner, isGuest } from '../../shared/contract/topology.ts'
import { toolTimeout } from '../../shared/contract/turn/tool-deadline.ts'
import type { Milliseconds } from '../../shared/lib/clock.ts'
import { cutNote } from '../../shared/model-texts/endings.ts'
import { redactedActivity } from '../../shared/runtime/redaction/agent-redaction.ts'
import type { AwaitedGuard } from './guards/guard-answer.ts'
import { bounded, bytesOf, cutWithNote } from './results.ts'

/** An open turn: with a running round, between its rounds, or only a cancel to remember. */
export type Turn = TurnId & {
  cancelled: boolean
  /** Rounds of a turn arrive in order, so any other round is a repeat. */
  roundNewest: number
  /** The rounds with unfinished calls. */
  rounds: Round[]
  /** The latest expiresAt. A turn with nothing open closes then. */
  closesAt: Milliseconds
  /** Outcomes of a guest's round that has not arrived. */
  early?: { round: number; outcomes: Outcome[]; bytes: number } | undefined
}

/** callsLeft: the unfinished calls. resultBytesLeft: the bound of their results together (R7). */
export type Round = Pick<RoundCleared, 'round' | 'agent' | 'policy' | 'expiresAt'> & {
  /** The append time of its round-cleared. */
  clearedAt: Milliseconds
  calls: OpenCall[]
  /** The guards that a call still waits for. */
  guards: AwaitedGuard[]
  /** Offers to a person without an answer. `input` 0: the calls that need approval. */
  personOffers: { input: number; ordinals: number[] }[]
  /** Whether its approvals were requested. */
  isApprovalRequested: boolean
  /**
   * Ordinals of the calls after which the others wait: a person may still decide them, or allowed
   * them, and they have no result yet.
   */
  holders: number[]
  /** Whether the programs of the calls that a person may decide are known. */
  programsKnown: boolean
  /** The number of questions of its tools to a person. */
  inputs: number
  interventions: GuardWish[]
  /** The verdicts that a guest's front was shown last. */
  verdictsShown?: string
  callsLeft: number
  resultBytesLeft: number
}

/**
 * `program`: the hash of the program for which the call may run. Undefined: any. `isOffered`: its
 * guest may have run it. `requested`: the guard that requests a person's approval, with its text.
 * `isAllowed`: a person allowed it. `isDecided`: the approval guard answered, and a rule may name it.
 */
export type OpenCall = {
  call: Call
  phase: Phase
  program?: string
  isOffered?: true
  requested?: string
  isAllowed?: true
  isDecided?: true
}

/**
 * `guards`: the names of those without a verdict yet; none if it only waits after another call
 * (guards/held-calls.ts). `lapsed`: the deadline of an earlier try has
 * passed, or its agent goes on, so that try may have run. `time`: the append time of the claim.
 */
export type Phase =
  | { kind: 'waiting'; declaration: Declaration; guards: string[] }
  | ({ kind: 'ready'; declaration: Declaration; try: number; lapsed: boolean } & Returns)
  | (Pick<Returns, 'returned' | 'goesOn'> & {
      kind: 'claimed'
      declaration: Declaration
      try: number
      lapsed: boolean
      owner: string
      time: Milliseconds
      cancelled: boolean
      /** The operator's stop that cancelled it. */
      stop?: StopInForce
      /** The newest question of its tool to a person. */
      question?: Question
    })
  | { kind: 'done'; result: CallResult }

/**
 * `returned`: how often an owner gave the call back. `claimsAt`: no owner claims the call before that
 * time.
 */
type Returns = { returned?: number; goesOn?: true; claimsAt?: Milliseconds }

/** The owner of a claim whose agent goes on after a cancel. */
export const nobody = ''

export type Claimed = Extract<Phase, { kind: 'claimed' }>

/** A claimed call with its place. */
export type ClaimInForce = { turn: Turn; round: Round; open: OpenCall; phase: Claimed }

/** `number`: in its try. `input`: in its round. `since`: its append time. */
export type Question = {
  number: number
  input: number
  since: Milliseconds
  answer?: Pick<InputGiven, 'answer' | 'values'>
}

export function opened({ conversation, turn }: TurnId): Turn {
  return { conversation, turn, cancelled: false, roundNewest: 0, rounds: [], closesAt: 0 }
}

export function findCall(
  turn: Turn | undefined,
  at: Pick<CallId, 'round' | 'ordinal'>,
): { round: Round; open: OpenCall } | undefined {
  const round = turn?.rounds.find((round) => round.round === at.round)
  const open = round?.calls.find(({ call }) => call.ordinal === at.ordinal)
  return round && open && { round, open }
}

/** Lets a call run. A guest runs its own: the offer is the claim (OFFERED-CALLS-1). */
export function release(
  { conversation }: Turn,
  open: OpenCall,
  { declaration }: Extract<Phase, { kind: 'waiting' }>,
  time: Milliseconds,
): void {
  const start = { declaration, try: 1, lapsed: false }
  if (!isGuest(conversation)) {
    open.phase = { ...start, kind: 'ready' }
    return
  }
  open.isOffered = true
  open.phase = { ...start, kind: 'claimed', owner: guestOwner, time, cancelled: false }
}

/** The time at which a claimed call without an outcome is lost. */
export function claimDeadline(
  { policy }: Pick<Round, 'policy'>,
  { time, declaration, owner }: Claimed,
): Milliseconds {
  const timeout = toolTimeout(declaration)
  return owner === clientOwner
    ? time + timeout
    : time + policy.startWithinMs + timeout + policy.graceMs
}

/**
 * Finishes the call. Returns its record for the activity topic. `resultId`: of the result that a
 * client sent.
 */
export function finishCall(
  turn: Turn,
  round: Round,
  open: OpenCall,
  ending: CallEnding | CallResult,
  resultId = '',
): Output {
  const result = chargeResult(round, resultWith(open.call.ordinal, ending))
  open.phase = { kind: 'done', result }
  return callFinished(turn, round, open.call, result, resultId)
}

/**
 * Charges one result to the round's bound (R7) and truncates it to an equal share of the rest. So
 * the last call still has room.
 */
export function chargeResult(round: Round, result: CallResult): CallResult {
  const within = bounded(result, Math.floor(round.resultBytesLeft / round.callsLeft))
  round.resultBytesLeft -= bytesOf(within)
  round.callsLeft -= 1
  return within
}

export function callFinished(
  { conversation, turn }: Turn,
  { round, policy }: Round,
  call: Call,
  result: CallResult,
  resultId = '',
): Output {
  const { ordinal, name } = call
  const { status, reason, durationMs, text, guard } = result
  const { redact } = policy
  const begins = redact.length === 0 ? text : text.slice(0, redactedCharactersMax)
  const message: CallFinished = redactedActivity(
    {
      type: 'call-finished',
      conversation,
      turn,
      round,
      ordinal,
      name,
      status,
      reason,
      durationMs,
      guard,
      result: begins,
      resultBytes: Buffer.byteLength(text),
      resultId,
    },
    redact,
    [call],
  )
  // The end of a cut text may hold a part of a value, which no rule finds.
  const shown =
    begins === text
      ? message.result
      : message.result.slice(0, -valueCharactersMax) + cutNote(message.resultBytes)
  const cut = cutWithNote(shown, limits.activityResultBytesMax)
  return { to: 'activity', message: { ...message, result: cut } }
}

/** Of a text that is cut for `activity`. */
const redactedCharactersMax = limits.activityResultBytesMax + 2 * valueCharactersMax
