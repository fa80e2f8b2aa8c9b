// The guards in force, as the table `policies` names them, stamped on the round: whom it waits for
// is known from the round itself (R2), so a guard counts from the next model response on, and what
// is registered, switched or removed later changes nothing for it. What an agent or a message says
// of guards counts for nothing: else whoever writes a message could be rid of them.

import { policyOf } from '../../shared/agents/agents.ts'
import { registrationFault } from '../../shared/contract/guard-registration.ts'
import { limits } from '../../shared/contract/limits.ts'
import type { GuardInForce, Message, Policy } from '../../shared/contract/messages.ts'

/** By name. A text: why they cannot be known, so that no round may be asked for (R6). */
export function guardsInForce(registrations: Message[]): GuardInForce[] | string {
  if (registrations.length > limits.guardsMax)
    return `${registrations.length} guards are registered; at most ${limits.guardsMax} are taken: remove some with weir guard remove`
  const guards: GuardInForce[] = []
  for (const registration of registrations) {
    if (registration.type !== 'guard-registration')
      return `a guard's registration in policies is a ${registration.type}; remove that guard`
    const fault = registrationFault(registration)
    if (fault !== undefined)
      return `the registration of guard ${JSON.stringify(registration.name.slice(0, 80))} cannot be used: ${fault}; register it anew, or remove it`
    const { name, version, tools, deadlineMs, onTimeout, rules } = registration
    guards.push({ name, version, tools, deadlineMs, onTimeout, rules })
  }
  return guards.sort((a, b) => (a.name < b.name ? -1 : 1))
}

/**
 * The policy with just these guards, under a version of its own; unchanged where there are none.
 */
export function withGuards(policy: Policy, guards: GuardInForce[]): Policy {
  if (guards.length === 0 && policy.guards.length === 0) return policy
  const { version: _, ...content } = policy
  return policyOf({ ...content, guards })
}
