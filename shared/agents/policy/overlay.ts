// A policy with what an operator has set put over it. Thresholds and modes of rules are as they are
// set; a cap counts where it is lower, so that nobody can lift one in this way.

import { lowestCaps } from '../../contract/caps.ts'
import type { Policy } from '../../contract/messages.ts'
import { policyOf } from '../agents.ts'
import { shadowedBy } from '../file/settings-part.ts'
import type { PolicyContent } from './entries.ts'

/** Under a version of its own; the policy itself where nothing differs. */
export function overlaid(policy: Policy, { loop, empty, caps, rules }: PolicyContent): Policy {
  const { version: _, ...content } = policy
  const before = Object.fromEntries(policy.shadowed.map((name) => [name, 'shadow' as const]))
  const laid = policyOf({
    ...content,
    caps: lowestCaps(policy.caps, { ...policy.caps, ...caps }),
    loop: { ...policy.loop, ...loop },
    empty: { ...policy.empty, ...empty },
    shadowed: shadowedBy({ ...before, ...rules }),
  })
  return laid.version === policyOf(content).version ? policy : laid
}
