// Applies the operator's caps to the agent's policy: the lower cap counts. The result is stamped on
// the round, so no later stage looks anything up (R2). Neither an agent file nor a message can
// raise a cap.

import { policyOf } from '../../../shared/agents/policy/policy.ts'
import type { OperatorLimits, Policy } from '../../../shared/contract/messages.ts'
import { lowestCaps } from '../../../shared/contract/turn/caps.ts'

/** The policy that judges a round. The agent's policy, unchanged, if no operator cap is lower. */
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
