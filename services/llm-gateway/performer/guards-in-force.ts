// Stamps the guards from the table `policies` on the round, so the round itself names the guards
// that it waits for (R2). A guard therefore counts from the next model response on. Later changes
// do not affect the round. Agent files and messages cannot change the guards: otherwise the author
// of a message could remove them.

import { policyOf } from '../../../shared/agents/policy/policy.ts'
import { approvalGuard } from '../../../shared/contract/guard/approval-guard.ts'
import { registrationFault } from '../../../shared/contract/guard/guard-registration.ts'
import { limits } from '../../../shared/contract/limits.ts'
import type { GuardInForce, Message, Policy } from '../../../shared/contract/messages.ts'

/** The guards by name. A text: the reason why they cannot be known, so no round may run (R6). */
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

/** The policy with exactly these guards, under a new version. Unchanged if there are none. */
export function withGuards(policy: Policy, guards: GuardInForce[]): Policy {
  if (guards.length === 0 && policy.guards.length === 0) return policy
  const { version: _, ...content } = policy
  const bindsPrograms = guards.some(({ name }) => name === approvalGuard)
  return policyOf({ ...content, guards, bindsPrograms })
}
