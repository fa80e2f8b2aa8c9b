// Calls that wait for the approval guard: requests approvals, for the programs that an executor
// found, and withdraws those no longer needed. Part of the reducer.
// APPROVAL-ASKING-1. Each requested call is answered by the guard's verdict or withdrawn, once: so
//     no person decides a call that is decided already.
// APPROVAL-ASKING-2. Where a rule lets guards request approvals, the other guards answer first. So a
//     person sees each request, and no call that a guard has stopped.

import { argumentText } from '../../../shared/contract/call/call.ts'
import { approvalGuard } from '../../../shared/contract/guard/approval-guard.ts'
import type { ProgramsHashed } from '../../../shared/contract/messages.ts'
import type { Output } from '../../../shared/contract/stage.ts'
import type { OpenCall, Round, Turn } from '../turn.ts'
import { rulesForTool } from './rules-of-round.ts'

/**
 * Requests approval of the round's calls that wait for the approval guard, if any, once. It waits
 * until their programs are known, and until no other guard can request an approval.
 */
export function askForApproval({ conversation, turn }: Turn, round: Round): Output[] {
  const { agent, policy, clearedAt, expiresAt } = round
  const awaited = round.guards.find(({ name }) => name === approvalGuard)
  const guard = policy.guards.find(({ name }) => name === approvalGuard)
  if (awaited === undefined || guard === undefined) return []
  if (round.isApprovalRequested || needsPrograms(round) || awaitsRequests(round)) return []
  round.isApprovalRequested = true
  const calls = round.calls.filter(isAsked).map(({ call, program = null, requested = null }) => ({
    ordinal: call.ordinal,
    name: call.name,
    arguments: argumentText(call),
    source: call.source === 'text' ? call.source : null,
    program,
    requested,
    question: null,
  }))
  round.pendingApprovals = calls.map(({ ordinal }) => ordinal)
  awaited.ordinals = [...round.pendingApprovals] // another guard may have stopped calls since
  const { version, deadlineMs, rules } = guard
  const until = Math.min(awaited.due, expiresAt)
  const place = { conversation, turn, round: round.round }
  return [
    {
      to: 'person',
      message: {
        type: 'approval-asked',
        ...place,
        agent,
        calls,
        rules: rules ?? '',
        version,
        clearedAt,
        deadlineMs,
        until,
        input: 0,
      },
    },
  ]
}

/** For a new round: until their programs are known, none of its calls has the right one. */
export function forbidPrograms(round: Round): void {
  for (const open of round.calls.filter(isAsked)) open.program = ''
}

/** Whether an executor must find the programs of the round's calls before a person decides. */
export function needsPrograms({ policy, programsKnown, calls }: Round): boolean {
  return policy.bindsPrograms && !programsKnown && calls.some(isAsked)
}

/** The programs are known. Only the first record of a round counts. */
export function applyPrograms(round: Round, { programs }: ProgramsHashed): void {
  if (!needsPrograms(round)) return
  round.programsKnown = true
  for (const open of round.calls.filter(isAsked))
    open.program = programs.find(({ ordinal }) => ordinal === open.call.ordinal)?.hash ?? ''
}

/** Keeps APPROVAL-ASKING-2. */
function awaitsRequests({ policy, calls }: Round): boolean {
  return calls.some(
    (open) =>
      isAsked(open) &&
      open.phase.kind === 'waiting' &&
      open.phase.guards.some((name) => name !== approvalGuard) &&
      rulesForTool(policy, open.call.name).some(({ when }) => when === 'requested'),
  )
}

/** Withdraws requested calls that wait no more (keeps APPROVAL-ASKING-1). */
export function withdrawApproval({ conversation, turn }: Turn, round: Round): Output[] {
  if (round.pendingApprovals.length === 0) return []
  const gone = round.calls.filter(
    (open) => round.pendingApprovals.includes(open.call.ordinal) && !isAsked(open),
  )
  if (gone.length === 0) return []
  round.pendingApprovals = round.pendingApprovals.filter(
    (ordinal) => !gone.some(({ call }) => call.ordinal === ordinal),
  )
  const calls = gone.map(({ call: { ordinal }, phase }) => ({
    ordinal,
    reason: phase.kind === 'done' ? phase.result.reason : '',
  }))
  return [
    {
      to: 'person',
      message: {
        type: 'approval-withdrawn',
        conversation,
        turn,
        round: round.round,
        calls,
        input: 0,
      },
    },
  ]
}

/** Withdraws all requests of a failed turn (keeps APPROVAL-ASKING-1). */
export function withdrawAll({ conversation, turn, rounds }: Turn, reason: string): Output[] {
  return rounds.flatMap(({ round, pendingApprovals }): Output[] => {
    if (pendingApprovals.length === 0) return []
    const calls = pendingApprovals.map((ordinal) => ({ ordinal, reason }))
    return [
      {
        to: 'person',
        message: { type: 'approval-withdrawn', conversation, turn, round, calls, input: 0 },
      },
    ]
  })
}

/** Whether a person may still have to decide the call. */
export function isAsked({ phase }: OpenCall): boolean {
  return phase.kind === 'waiting' && phase.guards.includes(approvalGuard)
}
