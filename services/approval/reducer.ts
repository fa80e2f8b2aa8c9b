// Approval: asks a person about the calls that a rule names, and gives the guard's verdict.
// Reads: approvals.
// Writes: guard-verdict to guard-verdicts.approval, approval-pending and approval-decided to
// activity.
// Owns: the calls that wait for a person, the decision that counts, the time that is too late.
// Does not own: whether the round still waits (executor, which reads the verdict like any guard's),
// the right to decide (access to the inbox), the command line.
//
// APPROVAL-REDUCER-1. Only the order of the inbox decides: the first fitting decision before the
//     call expires counts (B1-APPROVAL-3 of approval.ts).
// APPROVAL-REDUCER-2. A round gets one verdict on all its calls, when the last call is decided. It
//     gets none if the executor waits no longer.
// APPROVAL-REDUCER-3. The rules come with the round, in its policy. A call for which they cannot be
//     read does not run (R6).
// APPROVAL-REDUCER-4. An approval expires before the executor stops waiting. The model then reads
//     that nobody approved, and not that a guard was silent.

import { approvalGuard } from '../../shared/contract/approval-guard.ts'
import { roundKey } from '../../shared/contract/ids.ts'
import type {
  ApprovalAnswered,
  ApprovalAsked,
  ApprovalDecided,
  ApprovalWithdrawn,
  CallVerdict,
  GuardVerdict,
  Tick,
} from '../../shared/contract/messages.ts'
import {
  closed,
  type Output,
  type Reaction,
  type Stage,
  unreachable,
} from '../../shared/contract/stage.ts'
import { type Decided, verdictOf } from './approval.ts'
import { type AskedRound, askedRound, takeIn } from './asked-round.ts'

type Inbox = ApprovalAsked | ApprovalAnswered | ApprovalWithdrawn | Tick

export const approval: Stage<AskedRound, Inbox> = {
  name: 'approval',

  unit(message) {
    return message.type === 'tick' ? message.unit : roundKey(message)
  },

  react(round, { message, time }) {
    switch (message.type) {
      case 'approval-asked':
        return round === undefined ? open(askedRound(message)) : { state: round }
      case 'approval-answered':
      case 'approval-withdrawn':
        return round === undefined ? closed : settle(round, takeIn(round, message, time), time)
      case 'tick':
        return round === undefined ? closed : settle(round, takeIn(round, undefined, time), time)
      default:
        return unreachable(message)
    }
  },

  wants: () => [],

  due: (round) => round.expiresAt,

  /**
   * The runtime fails the turn: the conversation cancels it at once, and the executor stops to wait
   * and withdraws what was asked.
   */
  failed: () => closed,
}

function open(round: AskedRound): Reaction<AskedRound> {
  if (round.approvals.length === 0) return { records: [verdict(round)] }
  const { conversation, turn, round: number, expiresAt } = round
  const calls = round.approvals.map(
    ({ request: { ordinal, name, arguments: text, id, hash, rule } }) => ({
      ...{ ordinal, name, arguments: text, id, hash, rule },
    }),
  )
  const pending = {
    type: 'approval-pending' as const,
    conversation,
    turn,
    round: number,
    calls,
    until: expiresAt,
  }
  return { state: round, records: [{ to: 'activity', message: pending }] }
}

/**
 * `changed`: what is decided now. The round closes with the last of its calls (keeps
 * APPROVAL-REDUCER-2).
 */
function settle(round: AskedRound, changed: Decided[], time: number): Reaction<AskedRound> {
  const records = changed.map(
    (approval): Output => ({ to: 'activity', message: decided(approval, round, time) }),
  )
  if (round.awaited.length === 0) return { records }
  if (round.approvals.some(({ kind }) => kind === 'pending')) return { state: round, records }
  return { records: [...records, verdict(round)] }
}

function decided(approval: Decided, { clearedAt }: AskedRound, time: number): ApprovalDecided {
  const { conversation, turn, round, ordinal, name, id } = approval.request
  const by = 'by' in approval ? approval.by : ''
  const reason = 'reason' in approval ? approval.reason : ''
  const waitedMs = Math.max(0, time - clearedAt)
  return {
    type: 'approval-decided',
    conversation,
    turn,
    round,
    ordinal,
    name,
    id,
    outcome: approval.kind,
    by,
    reason,
    waitedMs,
  }
}

function verdict({
  conversation,
  turn,
  round,
  version,
  judged,
  approvals,
  clearedAt,
  deadlineMs,
}: AskedRound): Output {
  const decided = approvals.flatMap((approval): CallVerdict[] =>
    approval.kind === 'pending' ? [] : [verdictOf(approval)],
  )
  const verdicts = [...judged, ...decided].sort((a, b) => a.ordinal - b.ordinal)
  const message: GuardVerdict = {
    ...{
      type: 'guard-verdict',
      conversation,
      turn,
      round,
      guard: approvalGuard,
      version,
      verdicts,
      intervention: null,
    },
    ...{ clearedAt, judgedMs: 0, enforces: verdicts.map(({ ordinal }) => ordinal), deadlineMs },
  }
  return { to: 'verdict', message }
}
