// The calls that a guest or a client runs: the offer, the result, and the end without one. Part of
// the reducer.
// OFFERED-CALLS-1. The offer is the claim (R4). A guest's call is offered when it may run, a
//     client's by a performer, after the checks that precede each start (offers.ts).
// OFFERED-CALLS-2. The first result counts. Without one, the outcome is unknown: a call that was
//     offered may have run, so it is never `skipped` and never offered again.
// The result of a guest's call that still waits counts: it ran without the guards'
// verdict, and no other front may run it.
// OFFERED-CALLS-4. An outcome of a guest can overtake its round, because it passes fewer stages. The
//     outcomes of one round are kept until the round arrives.

import { outcomeUnknown, promisesNeverRan } from '../../../shared/contract/call/call-endings.ts'
import { limits } from '../../../shared/contract/limits.ts'
import type {
  CallResult,
  Claim,
  Outcome,
  ResultSent,
  StopInForce,
} from '../../../shared/contract/messages.ts'
import type { Output } from '../../../shared/contract/stage.ts'
import { clientOwner, guestOwner, isGuest } from '../../../shared/contract/topology.ts'
import type { Milliseconds } from '../../../shared/lib/clock.ts'
import { cutToBytes } from '../../../shared/lib/text-cut.ts'
import { cancelledAtClient as cancelledAtClientText } from '../../../shared/model-texts/endings.ts'
import { stoppedCall } from '../../../shared/runtime/settings/stops.ts'
import { forgetAnswered } from '../guards/waiting.ts'
import { bytesOf } from '../results.ts'
import {
  type ClaimInForce,
  claimDeadline,
  findCall,
  finishCall,
  type OpenCall,
  type Round,
  type Turn,
} from '../turn.ts'

/** How long the executor keeps the outcomes of a guest's round that has not arrived. */
export const guestEarlyMs = 60_000

/** Whether somebody outside sends the end of a call that it ran. */
export function isFromOutside(message: Outcome | ResultSent): boolean {
  if (message.type === 'result-sent') return true
  return message.owner === guestOwner && isGuest(message.conversation)
}

/** Whether somebody outside runs the calls of this owner. None of them is offered twice. */
export function runsOutside(owner: string): boolean {
  return owner === guestOwner || owner === clientOwner
}

/** The activity record of an offer to a client. A guest reads its verdicts (guest-verdicts.ts). */
export function offered(
  { owner, conversation, turn, round, ordinal }: Claim,
  { name, until }: { name: string; until: Milliseconds },
): Output[] {
  if (owner !== clientOwner) return []
  const place = { conversation, turn, round, ordinal }
  return [{ to: 'activity', message: { type: 'call-offered', ...place, name, until } }]
}

/** Applies the end that somebody outside sends, or keeps it for its round. */
export function applyEnd(turn: Turn, message: Outcome | ResultSent, time: Milliseconds): Output[] {
  const found = findCall(turn, message)
  if (found !== undefined) return finishOffered(turn, found, message, time)
  if (message.type === 'outcome') keepEarly(turn, message, time)
  return []
}

/** For a new round: applies the outcomes that overtook it. */
export function applyEarly(turn: Turn, round: Round, time: Milliseconds): Output[] {
  const { early } = turn
  if (early === undefined || early.round > round.round) return []
  turn.early = undefined
  if (early.round < round.round) return []
  return early.outcomes.flatMap((message) => {
    const found = findCall(turn, message)
    return found === undefined ? [] : finishOffered(turn, found, message, time)
  })
}

function finishOffered(
  turn: Turn,
  { round, open }: { round: Round; open: OpenCall },
  message: Outcome | ResultSent,
  time: Milliseconds,
): Output[] {
  const { phase } = open
  const isClient = message.type === 'result-sent'
  if (phase.kind === 'claimed' && (phase.owner === clientOwner) === isClient) {
    if (isClient && time >= claimDeadline(round, phase)) return [] // however late the tick
    const result = resultIn(message, time - phase.time)
    // Another front may have run it. Keeps OFFERED-CALLS-2.
    if (result === null || promisesNeverRan(result.status)) return []
    const resultId = isClient ? cutToBytes(message.resultId, limits.messageIdBytesMax) : ''
    return [finishCall(turn, round, open, result, resultId)]
  }
  if (phase.kind !== 'waiting' || isClient || message.result === null) return []
  const records = [finishCall(turn, round, open, message.result)]
  forgetAnswered(round)
  return records
}

function resultIn(message: Outcome | ResultSent, ranMs: Milliseconds): CallResult | null {
  if (message.type === 'outcome') return message.result
  const { ordinal, isError, text } = message
  const status = isError ? 'error' : 'ok'
  const reason = isError ? 'the client reported an error' : ''
  const durationMs = Math.max(0, ranMs)
  return { ordinal, status, reason, text, durationMs, contents: [], tokens: null, guard: '' }
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
  turn.closesAt = Math.max(turn.closesAt, time + guestEarlyMs)
}

/**
 * Stops a claimed call: a cancel of its turn, or an operator's stop at once. A guest goes on. An
 * executor gets a stop request, and its outcome decides. A client gets none.
 */
export function stopClaimed(
  { turn, round, open, phase }: ClaimInForce,
  stop?: StopInForce,
): Output[] {
  if (phase.owner === clientOwner)
    return [finishCall(turn, round, open, stop ? stoppedCall(stop, true) : cancelledAtClient)]
  if (phase.owner === guestOwner || phase.cancelled) return []
  phase.cancelled = true
  if (stop !== undefined) phase.stop = stop
  return []
}

const cancelledAtClient = outcomeUnknown(
  cancelledAtClientText,
  'cancelled before the client sent its result',
)
