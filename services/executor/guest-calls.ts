// The calls of a guest, which runs them itself: the offer, its outcome, and the verdicts that its
// front awaits. Part of the reducer.
// GUEST-CALLS-1. The offer is the claim (R4): the owner `guest` claims a call that may run. So no
//     executor can claim it, and the first outcome of the guest counts.
// GUEST-CALLS-2. A call that was offered may have run, so it is never `skipped`. A result of a call
//     that still waits counts: it ran without the guards' verdict, and no other front may run it.
// GUEST-CALLS-3. An outcome can overtake its round, because it passes fewer stages. The outcomes of
//     one round are kept until the round arrives.

import { promisesNeverRan } from '../../shared/contract/call/call-endings.ts'
import { limits } from '../../shared/contract/limits.ts'
import type {
  CallResult,
  GuestCallVerdict,
  GuestVerdictKind,
  Outcome,
} from '../../shared/contract/messages.ts'
import type { Output } from '../../shared/contract/stage.ts'
import { guestOwner, isGuest } from '../../shared/contract/topology.ts'
import type { Milliseconds } from '../../shared/lib/clock.ts'
import { forgetAnswered } from './guards/waiting.ts'
import { bytesOf } from './results.ts'
import { claimDeadline, finishCall, type OpenCall, type Round, type Turn } from './turn.ts'

export function isOfGuest(message: Outcome): boolean {
  return message.owner === guestOwner && isGuest(message.conversation)
}

/** Applies the outcome of a guest's call, or keeps it for its round. */
export function applyGuestOutcome(turn: Turn, message: Outcome, time: Milliseconds): Output[] {
  const round = turn.rounds.find(({ round }) => round === message.round)
  if (round === undefined) {
    keepEarly(turn, message, time)
    return []
  }
  const open = round.calls.find(({ call }) => call.ordinal === message.ordinal)
  return open === undefined ? [] : finishGuestCall(turn, round, open, message.result)
}

/** For a new round: applies the outcomes that overtook it. */
export function applyEarly(turn: Turn, round: Round): Output[] {
  const { early } = turn
  if (early === undefined || early.round > round.round) return []
  turn.early = undefined
  if (early.round < round.round) return []
  return early.outcomes.flatMap(({ ordinal, result }) => {
    const open = round.calls.find(({ call }) => call.ordinal === ordinal)
    return open === undefined ? [] : finishGuestCall(turn, round, open, result)
  })
}

function finishGuestCall(
  turn: Turn,
  round: Round,
  open: OpenCall,
  result: CallResult | null,
): Output[] {
  const { phase } = open
  if (result === null) return []
  switch (phase.kind) {
    case 'claimed':
      // Another front may have run it. Keeps GUEST-CALLS-2.
      return promisesNeverRan(result.status) ? [] : [finishCall(turn, round, open, result)]
    case 'waiting': {
      const records = [finishCall(turn, round, open, result)]
      forgetAnswered(round)
      return records
    }
    default:
      return [] // a call keeps its first result
  }
}

function keepEarly(turn: Turn, message: Outcome, time: Milliseconds): void {
  const { round, result } = message
  if (round <= turn.roundNewest || result === null) return
  if (turn.early === undefined || turn.early.round < round)
    turn.early = { round, outcomes: [], bytes: 0 }
  if (turn.early.round > round) return
  const bytes = turn.early.bytes + bytesOf(result)
  if (bytes > limits.roundResultsBytesMax || turn.early.outcomes.length >= limits.responseCallsMax)
    return
  turn.early.bytes = bytes
  turn.early.outcomes.push(message)
  turn.closesAt = Math.max(turn.closesAt, time + limits.guestEarlyMs)
}

/**
 * The verdicts on the calls of each round of a guest whose verdicts have changed. The end of a call
 * that was allowed changes nothing for a front.
 */
export function changedVerdicts(turn: Turn): Output[] {
  if (!isGuest(turn.conversation)) return []
  return turn.rounds.flatMap((round) => {
    const calls = round.calls.map((open) => verdictOn(round, open))
    const shown = calls.map(({ verdict, code }) => `${verdict} ${code}`).join('\n')
    if (shown === round.verdictsShown) return []
    round.verdictsShown = shown
    return [verdictsRecord(turn, round, calls)]
  })
}

export function verdictsOf(turn: Turn, round: Round): Output {
  return verdictsRecord(
    turn,
    round,
    round.calls.map((open) => verdictOn(round, open)),
  )
}

function verdictsRecord(
  { conversation, turn }: Turn,
  { round }: Round,
  calls: GuestCallVerdict[],
): Output {
  return { to: 'activity', message: { type: 'guest-verdicts', conversation, turn, round, calls } }
}

function verdictOn(round: Round, { call, phase, isOffered }: OpenCall): GuestCallVerdict {
  const verdict = (kind: GuestVerdictKind, text = '', code = '', until = 0): GuestCallVerdict => ({
    ordinal: call.ordinal,
    callId: call.id,
    name: call.name,
    verdict: kind,
    text,
    code,
    until,
    isOver: kind === 'allow' && phase.kind === 'done',
  })
  switch (phase.kind) {
    case 'waiting': {
      const due = round.guards.filter(({ name }) => phase.guards.includes(name))
      const until = Math.min(round.expiresAt, Math.max(0, ...due.map((guard) => guard.due)))
      return verdict('pending', '', phase.guards.join(', '), until)
    }
    case 'ready':
    case 'claimed':
      return verdict('allow', '', '', phase.kind === 'claimed' ? claimDeadline(round, phase) : 0)
    case 'done': {
      const { text, reason } = phase.result
      return isOffered ? verdict('allow') : verdict('deny', text, reason)
    }
  }
}
