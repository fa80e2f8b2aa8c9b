// Puts an operator's settings over a policy. They replace thresholds and modes of rules. A cap
// counts only if it is lower, so no operator's setting can raise one.

import type { Policy } from '../../contract/messages.ts'
import { lowestCaps } from '../../contract/turn/caps.ts'
import { lowestTreeCaps } from '../../contract/turn/tree-caps.ts'
import { shadowedBy } from '../file/parts/settings-part.ts'
import type { PolicyContent } from './entries.ts'
import { policyOf } from './policy.ts'

/** The result has its own version. It is the given policy itself if nothing differs. */
export function overlaid(
  policy: Policy,
  { loop, empty, caps, tree, rules }: PolicyContent,
): Policy {
  const { version: _, ...content } = policy
  const before = Object.fromEntries(policy.shadowed.map((name) => [name, 'shadow' as const]))
  const laid = policyOf({
    ...content,
    caps: lowestCaps(policy.caps, { ...policy.caps, ...caps }),
    loop: { ...policy.loop, ...loop },
    empty: { ...policy.empty, ...empty },
    tree: lowestTreeCaps(policy.tree, tree),
    shadowed: shadowedBy({ ...before, ...rules }),
  })
  return laid.version === policyOf(content).version ? policy : laid
}
