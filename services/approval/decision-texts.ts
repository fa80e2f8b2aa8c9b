// The answers to the author of a decision: whether it counted, and otherwise the one that did.

import type { PersonIdentity } from '../../shared/contract/messages.ts'
import { unreachable } from '../../shared/contract/stage.ts'
import type { Milliseconds } from '../../shared/lib/clock.ts'
import type { Approval } from './approval.ts'

/** For the author of a decision that counted. */
export function countedText({ kind, request: { name, id, question } }: Approval): string {
  if (question !== null)
    return kind === 'allow'
      ? `Answered: ${id}. ${name} goes on with your values.`
      : `Declined: ${id}. ${name} gets no values, and its server decides.`
  return kind === 'allow'
    ? `Allowed: ${id}. ${name} may run with exactly these arguments.`
    : `Denied: ${id}. ${name} does not run, and the model gets the reason.`
}

/** For the author of a decision that did not count. */
export function alreadyText(approval: Approval): string {
  const { id } = approval.request
  const nothing = `Nothing was changed: ${id}`
  switch (approval.kind) {
    case 'pending':
      return `${nothing} waits with other arguments than your decision names. List it again, then decide.`
    case 'allow':
      return `${nothing} was allowed by ${personText(approval)} at ${instant(approval.at)}. The call may have run already.`
    case 'deny':
      return `${nothing} was denied by ${personText(approval)} at ${instant(approval.at)}.`
    case 'expired':
      return `${nothing} was denied because nobody decided before ${instant(approval.at)}.`
    case 'withdrawn':
      return `${nothing} was decided otherwise at ${instant(approval.at)}${approval.reason === '' ? '' : ` (${approval.reason})`}.`
    default:
      return unreachable(approval)
  }
}

function personText({ by, identity }: { by: string; identity: PersonIdentity }): string {
  return identity === 'claimed' ? `${by} (claimed)` : by
}

function instant(time: Milliseconds): string {
  return new Date(time).toISOString()
}
