// The operator's caps over the agent's: for each the lower one counts. The result is stamped on the
// round, so that no later stage looks anything up (R2). Nobody can lift a cap this way, neither an
// agent's file nor a message.

import { policyOf } from '../../shared/agents/agents.ts'
import { lowestCaps } from '../../shared/contract/caps.ts'
import type { OperatorLimits, Policy } from '../../shared/contract/messages.ts'

/**
 * The policy that judges a round; the agent's own, unchanged, where the operator's caps are not
 * lower.
 */
export function withOperatorCaps(policy: Policy, operator: OperatorLimits | undefined): Policy {
  if (operator === undefined) return policy
  const caps = lowestCaps(policy.caps, operator.caps)
  if (
    caps.rounds === policy.caps.rounds &&
    caps.calls === policy.caps.calls &&
    caps.wallMs === policy.caps.wallMs &&
    caps.tokens === policy.caps.tokens
  )
    return policy
  const { version: _, ...content } = policy
  return policyOf({ ...content, caps })
}
