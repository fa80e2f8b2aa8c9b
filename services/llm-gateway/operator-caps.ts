// The operator's caps over the agent's: for each the lower one counts. The result is stamped on the round, so that no later stage looks
// anything up (R2). Nobody can lift a cap this way, neither an agent's file nor a message.

import { policyOf } from '../../shared/agents.ts'
import type { Caps, OperatorLimits, Policy } from '../../shared/messages.ts'

/** The policy that judges a round; the agent's own, unchanged, where the operator's caps are not lower. */
export function withOperatorCaps(policy: Policy, operator: OperatorLimits | undefined): Policy {
  if (operator === undefined) return policy
  const caps = lowerOf(policy.caps, operator.caps)
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

function lowerOf(agent: Caps, operator: Caps): Caps {
  return {
    rounds: Math.min(agent.rounds, operator.rounds),
    calls: Math.min(agent.calls, operator.calls),
    wallMs: Math.min(agent.wallMs, operator.wallMs),
    tokens: agent.tokens === null || operator.tokens === null ? (agent.tokens ?? operator.tokens) : Math.min(agent.tokens, operator.tokens),
  }
}
