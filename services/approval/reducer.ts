// Approval: asks a person about the calls that a rule names, and gives the guard's verdict. It also
// asks the questions of running tools.
// Reads: approvals.
// Writes: guard-verdict and input-given to guard-verdicts.approval, approval-pending and
// approval-decided to activity, audit-decided to audit.
// Owns: the calls that wait for a person, the decision that counts, the time of expiry.
// Does not own: whether the round still waits (executor, which reads the verdict like any guard's),
// the right to decide (access to the inbox), the command line.
//
// Only the order of the inbox decides: the first fitting decision before the
// call expires counts.
// A round gets one verdict on all its calls, when the last call is decided. It
// gets none if the executor waits no longer.
// The rules come with the round, in its policy. A call whose rules cannot be
// read does not run (R6).
// An approval expires before the executor stops waiting. So the model reads
// that nobody allowed, not that a guard was silent.
// Each decision, and the lack of one, leaves one audit-decided with the question.
// It comes last, so the ids of the other records are those of an earlier Weir (R3).

import { approvalGuard } from '../../shared/contract/guard/approval-guard.ts'
import { inputKey } from '../../shared/contract/ids.ts'
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
import { type Decided, givenOf, verdictOf } from './approval.ts'
import { type ApprovalRound, applyRecord, approvalRound } from './approval-round.ts'
import { auditOf } from './audit.ts'

type Inbox = ApprovalAsked | ApprovalAnswered | ApprovalWithdrawn | Tick

export const approval: Stage<ApprovalRound, Inbox> = {
  name: 'approval',

  unit(message) {
    return message.type === 'tick' ? message.unit : inputKey(message)
  },

  react(round, { message, time }) {
    switch (message.type) {
      case 'approval-asked':
        return round === undefined ? onAsked(approvalRound(message)) : { state: round }
      case 'approval-answered':
      case 'approval-withdrawn':
        return round === undefined
          ? closed
          : emitDecisions(round, applyRecord(round, message, time), time)
      case 'tick':
        return round === undefined
          ? closed
          : emitDecisions(round, applyRecord(round, undefined, time), time)
      default:
        return unreachable(message)
    }
  },

  wants: () => [],

  due: (round) => round.expiresAt,

  /**
   * The runtime fails the turn. The conversation then cancels it, and the executor stops waiting
   * and withdraws the calls.
   */
  failed: () => closed,
}

function onAsked(round: ApprovalRound): Reaction<ApprovalRound> {
  if (round.approvals.length === 0) return { records: [verdict(round)] }
  const { conversation, turn, round: number, expiresAt } = round
  const calls = round.approvals.map(
    ({
      request: { ordinal, name, arguments: text, id, hash, rule, source, program, question },
    }) => ({
      ordinal,
      name,
      arguments: text,
      id,
      hash,
      rule,
      source,
      program,
      question,
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
 * `changed`: the newly decided calls. The round closes with the last decision.
 */
function emitDecisions(
  round: ApprovalRound,
  changed: Decided[],
  time: number,
): Reaction<ApprovalRound> {
  const records = changed.map(
    (approval): Output => ({ to: 'activity', message: decided(approval, round, time) }),
  )
  const audited = changed.map((approval): Output => ({ to: 'audit', message: auditOf(approval) }))
  const isOpen = round.awaited.length > 0 && hasPending(round)
  return {
    state: isOpen ? round : undefined,
    records: [...records, ...answersOf(round, changed), ...audited],
  }
}

function hasPending({ approvals }: ApprovalRound): boolean {
  return approvals.some(({ kind }) => kind === 'pending')
}

/** For the executor, once nothing of the round is pending and while the executor waits. */
function answersOf(round: ApprovalRound, changed: Decided[]): Output[] {
  if (round.awaited.length === 0 || hasPending(round)) return []
  if (round.input === 0) return [verdict(round)]
  return changed.flatMap((approval): Output[] => {
    const message = givenOf(approval)
    return message === undefined ? [] : [{ to: 'verdict', message }]
  })
}

function decided(approval: Decided, { clearedAt }: ApprovalRound, time: number): ApprovalDecided {
  const { conversation, turn, round, ordinal, name, id } = approval.request
  const by = 'by' in approval ? approval.by : ''
  const identity = 'identity' in approval ? approval.identity : 'claimed'
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
    identity,
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
}: ApprovalRound): Output {
  const decided = approvals.flatMap((approval): CallVerdict[] =>
    approval.kind === 'pending' ? [] : [verdictOf(approval)],
  )
  const verdicts = [...judged, ...decided].sort((a, b) => a.ordinal - b.ordinal)
  const message: GuardVerdict = {
    type: 'guard-verdict',
    conversation,
    turn,
    round,
    guard: approvalGuard,
    version,
    verdicts,
    intervention: null,
    clearedAt,
    judgedMs: 0,
    enforces: verdicts.map(({ ordinal }) => ordinal),
    deadlineMs,
  }
  return { to: 'verdict', message }
}
