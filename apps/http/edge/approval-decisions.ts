// The waiting calls of a principal, and its decisions.
// A decision carries the id of the author of its request, and whether a key, a
// token or a certificate proves it. A body cannot name another.
// A call of another tenant does not exist: 404.

import type { DecisionOutcome, WaitingApproval } from '../../../client/weir.ts'
import type { ApprovalAnswer } from '../../../shared/contract/messages.ts'
import { conversationFor, type Principal, requireRole } from './access/principal.ts'
import type { EdgeContext } from './edge-context.ts'

/** As the principal sees them: with its own ids of conversations. */
export async function waitingFor(
  { weirOf }: Pick<EdgeContext, 'weirOf'>,
  principal: Principal,
): Promise<WaitingApproval[]> {
  return (await weirOf(principal).approvals()).flatMap((approval) => {
    const conversation = conversationFor(principal, approval.conversation)
    return conversation === undefined ? [] : [{ ...approval, conversation }]
  })
}

export type Decision = {
  id: string
  answer: ApprovalAnswer
  reason?: string
  hash?: string
  values?: string
  /** Only a call of this turn is known; `conversation` as in the log. */
  of?: Pick<WaitingApproval, 'conversation' | 'turn'>
}

/** Throws 403 without the role `decide`, and 404. */
export async function decideFor(
  { weirOf }: Pick<EdgeContext, 'weirOf'>,
  principal: Principal,
  { id, answer, reason, hash, values, of }: Decision,
): Promise<DecisionOutcome> {
  requireRole(principal, 'decide')
  const weir = weirOf(principal)
  const { id: by, identity } = principal
  const decision = { by, identity, of, hash }
  return answer === 'allow'
    ? weir.allow(id, { ...decision, values })
    : weir.deny(id, { ...decision, reason })
}
