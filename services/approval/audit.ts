// The evidence of a decision: its author, its outcome, and everything that the person saw. Pure.

import type { AuditDecided } from '../../shared/contract/messages.ts'
import type { Decided } from './approval.ts'

export function auditOf(approval: Decided): AuditDecided {
  const { conversation, turn, round, ordinal, agent, input } = approval.request
  const { name, id, hash, program, source, rule, question, askedAt } = approval.request
  return {
    type: 'audit-decided',
    conversation,
    turn,
    round,
    ordinal,
    agent,
    name,
    id,
    hash,
    program,
    input,
    source,
    askedAt,
    at: approval.at,
    outcome: approval.kind,
    by: 'by' in approval ? approval.by : '',
    identity: 'identity' in approval ? approval.identity : 'claimed',
    arguments: approval.request.arguments,
    rule,
    question: question ?? '',
    values: ('values' in approval && approval.values) || '',
    reason: 'reason' in approval ? approval.reason : '',
    link: null,
  }
}
