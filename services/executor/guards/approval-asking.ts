// Calls that wait for the approval guard: requests approvals and withdraws those no longer needed.
// Part of the reducer.
// APPROVAL-ASKING-1. Each requested call is answered by the guard's verdict or withdrawn, once: so
//     no person decides a call that is decided already.

import { approvalGuard } from '../../../shared/contract/approval-guard.ts'
import { argumentText } from '../../../shared/contract/call.ts'
import type { Output } from '../../../shared/contract/stage.ts'
import type { OpenCall, Round, Turn } from '../turn.ts'

/** For a new round: requests approval of its calls that wait for the approval guard, if any. */
export function askForApproval({ conversation, turn }: Turn, round: Round): Output[] {
  const { agent, policy, clearedAt, expiresAt } = round
  const awaited = round.guards.find(({ name }) => name === approvalGuard)
  const guard = policy.guards.find(({ name }) => name === approvalGuard)
  if (awaited === undefined || guard === undefined) return []
  const calls = round.calls.filter(isAsked).map(({ call }) => ({
    ordinal: call.ordinal,
    name: call.name,
    arguments: argumentText(call),
    source: call.source === 'text' ? call.source : null,
  }))
  round.pendingApprovals = calls.map(({ ordinal }) => ordinal)
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
      },
    },
  ]
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
      message: { type: 'approval-withdrawn', conversation, turn, round: round.round, calls },
    },
  ]
}

/** Withdraws all requests of a failed turn (keeps APPROVAL-ASKING-1). */
export function withdrawAll({ conversation, turn, rounds }: Turn, reason: string): Output[] {
  return rounds.flatMap(({ round, pendingApprovals }): Output[] => {
    if (pendingApprovals.length === 0) return []
    const calls = pendingApprovals.map((ordinal) => ({ ordinal, reason }))
    return [
      { to: 'person', message: { type: 'approval-withdrawn', conversation, turn, round, calls } },
    ]
  })
}

function isAsked({ phase }: OpenCall): boolean {
  return phase.kind === 'waiting' && phase.guards.includes(approvalGuard)
}
