// Offers to a person: the calls of a round that need approval, and the questions of running tools.
// Each goes to the approval stage, which gives one answer. Part of the reducer.
// Each offered call is answered or withdrawn, once: so no person decides a call that
// is decided already, or answers a question that its call no longer needs.
// Where a rule lets guards request approvals, the other guards answer first. So a
// person sees each request, and no call that a guard has stopped.
// Only a claim in force has questions: one at a time, in the order of their numbers.
// A cancelled call has none.
// The first answer to a question counts. It changes no phase: the outcome of the
// claim or its deadline still decides the call.

import { argumentText } from '../../../shared/contract/call/call.ts'
import { approvalGuard } from '../../../shared/contract/guard/approval-guard.ts'
import { limits } from '../../../shared/contract/limits.ts'
import type {
  ApprovalAsked,
  AskedCall,
  InputGiven,
  InputRequested,
} from '../../../shared/contract/messages.ts'
import type { Output } from '../../../shared/contract/stage.ts'
import type { Milliseconds } from '../../../shared/lib/clock.ts'
import { awaitsRequests, isAsked, needsPrograms } from '../guards/approval-asking.ts'
import {
  type ClaimInForce,
  claimDeadline,
  type OpenCall,
  type Question,
  type Round,
  type Turn,
} from '../turn.ts'

/**
 * Requests approval of the round's calls that wait for the approval guard, if any, once. It waits
 * until their programs are known, and until no other guard can request an approval.
 */
export function askForApproval(turn: Turn, round: Round): Output[] {
  const { policy, clearedAt, expiresAt } = round
  const awaited = round.guards.find(({ name }) => name === approvalGuard)
  const guard = policy.guards.find(({ name }) => name === approvalGuard)
  if (awaited === undefined || guard === undefined) return []
  if (round.isApprovalRequested || needsPrograms(round) || awaitsRequests(round)) return []
  round.isApprovalRequested = true
  const { version, deadlineMs, rules } = guard
  const calls = round.calls.filter(isAsked)
  awaited.ordinals = calls.map(({ call }) => call.ordinal) // others may be stopped since
  return offerToPerson(turn, round, calls.map(askedCall), {
    input: 0,
    rules: rules ?? '',
    version,
    clearedAt,
    deadlineMs,
    until: Math.min(awaited.due, expiresAt),
  })
}

/** Passes on a question of this claim. A repeated or an early one changes nothing. */
export function requestInput(
  { turn, round, open, phase }: ClaimInForce,
  { number, question, waitMs }: InputRequested,
  time: Milliseconds,
): Output[] {
  const former = phase.question
  const isNext = number > (former?.number ?? 0) && (former === undefined || 'answer' in former)
  if (!isNext || phase.cancelled || number > limits.inputsOfTryMax) return []
  round.inputs += 1
  const input = round.inputs
  const until = Math.min(time + Math.max(0, waitMs), claimDeadline(round, phase))
  phase.question = { number, input, since: time }
  open.isDecided = true
  const call = { ...askedCall(open), program: null, requested: null, question }
  return offerToPerson(turn, round, [call], {
    input,
    rules: '',
    version: '',
    clearedAt: time,
    deadlineMs: until - time,
    until,
  })
}

function askedCall({ call, program, requested }: OpenCall): AskedCall {
  return {
    ordinal: call.ordinal,
    name: call.name,
    arguments: argumentText(call),
    source: call.source === 'text' ? call.source : null,
    program: program ?? null,
    requested: requested ?? null,
    question: null,
  }
}

function offerToPerson(
  { conversation, turn }: Turn,
  round: Round,
  calls: AskedCall[],
  offer: Omit<ApprovalAsked, 'type' | 'conversation' | 'turn' | 'round' | 'agent' | 'calls'>,
): Output[] {
  const ordinals = calls.map(({ ordinal }) => ordinal)
  round.personOffers.push({ input: offer.input, ordinals })
  const place = { conversation, turn, round: round.round, agent: round.agent }
  return [{ to: 'person', message: { type: 'approval-asked', ...place, calls, ...offer } }]
}

/** The approval guard has answered: nothing is left to withdraw. */
export function approvalAnswered(round: Round): void {
  round.personOffers = round.personOffers.filter(({ input }) => input > 0)
}

export function applyInput(round: Round, { input, answer, values }: InputGiven): [] {
  const isOpen = round.personOffers.some((offer) => offer.input === input)
  const question = round.calls.map(questionOf).find((one) => one?.input === input)
  if (!isOpen || question === undefined) return []
  round.personOffers = round.personOffers.filter((offer) => offer.input !== input)
  question.answer = { answer, values }
  return []
}

/**
 * Withdraws the offers of calls that need no answer any more, or all of them by a failure of the turn.
 */
export function withdrawOffers(
  { conversation, turn }: Turn,
  round: Round,
  failure?: string,
): Output[] {
  const records = round.personOffers.flatMap((offer): Output[] => {
    const { input, ordinals } = offer
    const gone = round.calls.filter(
      (open) =>
        ordinals.includes(open.call.ordinal) && (failure !== undefined || !needs(open, input)),
    )
    if (gone.length === 0) return []
    const calls = gone.map((open) => ({
      ordinal: open.call.ordinal,
      reason: failure ?? reasonOf(open, input),
    }))
    offer.ordinals = ordinals.filter((one) => !calls.some(({ ordinal }) => ordinal === one))
    const place = { conversation, turn, round: round.round }
    return [{ to: 'person', message: { type: 'approval-withdrawn', ...place, input, calls } }]
  })
  round.personOffers = round.personOffers.filter(({ ordinals }) => ordinals.length > 0)
  return records
}

function needs(open: OpenCall, input: number): boolean {
  return input === 0 ? isAsked(open) : questionOf(open)?.input === input
}

/** The newest question of a call that is not cancelled. */
function questionOf({ phase }: OpenCall): Question | undefined {
  return phase.kind === 'claimed' && !phase.cancelled ? phase.question : undefined
}

function reasonOf({ phase }: OpenCall, input: number): string {
  if (input > 0) return 'its call needs no answer any more'
  return phase.kind === 'done' ? phase.result.reason : ''
}
