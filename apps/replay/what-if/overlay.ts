// Puts named settings over the policy of each round, and keeps all others.

import { shadowedBy } from '../../../shared/agents/file/parts/settings-part.ts'
import type { PolicyContent } from '../../../shared/agents/policy/entries.ts'
import { policyOf } from '../../../shared/agents/policy/policy.ts'
import type { Message, Policy } from '../../../shared/contract/messages.ts'

/** There are few policies and many rounds. */
const keptMax = 1_000

/** The same message with the overlay on its policy. Returns a message without a policy as it is. */
export function overlaying(content: PolicyContent): (message: Message) => Message {
  const kept = new Map<string, Policy>()

  function over(policy: Policy): Policy {
    const known = kept.get(policy.version)
    if (known !== undefined) return known
    const changed = changedBy(policy, content)
    if (kept.size >= keptMax) kept.clear()
    kept.set(policy.version, changed)
    return changed
  }

  return (message) => {
    if ('policy' in message) return { ...message, policy: over(message.policy) }
    if (message.type === 'user-message')
      return {
        ...message,
        settings: { ...message.settings, policy: over(message.settings.policy) },
      }
    return message
  }
}

/** Unlike an operator's overlay, this one may lift a cap, because it changes nothing. */
function changedBy(
  { version: _, ...policy }: Policy,
  { caps, loop, empty, rules }: PolicyContent,
): Policy {
  const before = Object.fromEntries(policy.shadowed.map((name) => [name, 'shadow' as const]))
  return policyOf({
    ...policy,
    caps: { ...policy.caps, ...caps },
    loop: { ...policy.loop, ...loop },
    empty: { ...policy.empty, ...empty },
    shadowed: shadowedBy({ ...before, ...rules }),
  })
}

export function changesCaps({ caps }: PolicyContent): boolean {
  return Object.keys(caps).length > 0
}
