// An open turn of the executor, and how one of its calls gets its result. Every state that the
// reducer keeps is described here.

import type { CallEnding } from '../../shared/contract/call-endings.ts'
import type {
  Call,
  CallResult,
  Cancel,
  Declaration,
  GuardWish,
  RoundCleared,
} from '../../shared/contract/messages.ts'
import type { Output } from '../../shared/contract/stage.ts'
import type { Milliseconds } from '../../shared/lib/clock.ts'
import type { AwaitedGuard } from './guards/guard-answer.ts'
import { bounded, bytesOf } from './results.ts'

/**
 * An open turn: while a round runs, between its rounds, or only a cancel that must not be
 * forgotten.
 */
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

/**
 * callsLeft: those that are not done; resultBytesLeft: what their results may take together (R7).
 */
export type Round = Pick<RoundCleared, 'round' | 'agent' | 'policy' | 'expiresAt'> & {
  /** When it came. */
  clearedAt: Milliseconds
  calls: OpenCall[]
  /** The guards whose answers still count: for each a call waits. */
  guards: AwaitedGuard[]
  /** Ordinals of the calls that the approval guard was asked about and has not answered. */
  asked: number[]
  wishes: GuardWish[]
  callsLeft: number
  resultBytesLeft: number
}

export type OpenCall = { call: Call; phase: Phase }

/**
 * guards: the names of those that have not let it pass yet. lapsed: the deadline of an earlier try
 * has passed, so it may have run. time: when the claim was appended.
 */
export type Phase =
  | { kind: 'waiting'; declaration: Declaration; guards: string[] }
  | { kind: 'ready'; declaration: Declaration; try: number; lapsed: boolean }
  | {
      kind: 'claimed'
      declaration: Declaration
      try: number
      lapsed: boolean
      owner: string
      time: Milliseconds
      cancelled: boolean
    }
  | { kind: 'done'; result: CallResult }

export function opened({ conversation, turn }: RoundCleared | Cancel): Turn {
  return { conversation, turn, cancelled: false, roundNewest: 0, rounds: [], closesAt: 0 }
}

/** Makes the call done; returns the line of activity that says so. */
export function finishCall(
  turn: Turn,
  round: Round,
  open: OpenCall,
  ending: CallEnding | CallResult,
): Output {
  const result = chargeResult(round, { durationMs: 0, ...ending, ordinal: open.call.ordinal })
  open.phase = { kind: 'done', result }
  return callFinished(turn, round, open.call, result)
}

/**
 * Books one result on the round's account, cut where it is over its bounds (R7): each may take an
 * equal part of what is left for the calls that are not done, so that whoever comes last still has
 * room.
 */
export function chargeResult(round: Round, result: CallResult): CallResult {
  const within = bounded(result, Math.floor(round.resultBytesLeft / round.callsLeft))
  round.resultBytesLeft -= bytesOf(within)
  round.callsLeft -= 1
  return within
}

export function callFinished(
  { conversation, turn }: Turn,
  { round }: Round,
  { ordinal, name }: Call,
  result: CallResult,
): Output {
  const { status, reason, durationMs } = result
  return {
    to: 'activity',
    message: {
      type: 'call-finished',
      conversation,
      turn,
      round,
      ordinal,
      name,
      status,
      reason,
      durationMs,
    },
  }
}
