// Another policy than the one that was in force, put over it: what is named is as it is named, and all else stays as it was in each round.

import { policyOf } from '../../../../shared/agents.ts'
import type { Caps, EmptyAllowance, LoopThresholds, Message, Policy } from '../../../../shared/messages.ts'

export type Overlay = { loop: Partial<LoopThresholds>; empty: Partial<EmptyAllowance>; caps: Partial<Caps> }

/** Policies are few, and rounds many. */
const keptMax = 1_000

/** The same message under the policy with the overlay. What has no policy is left as it is. */
export function overlaying(overlay: Overlay): (message: Message) => Message {
  const kept = new Map<string, Policy>()

  function over(policy: Policy): Policy {
    const known = kept.get(policy.version)
    if (known !== undefined) return known
    const { version: _, caps, loop, empty, ...rest } = policy
    const changed = policyOf({
      caps: { ...caps, ...overlay.caps },
      loop: { ...loop, ...overlay.loop },
      empty: { ...empty, ...overlay.empty },
      ...rest,
    })
    if (kept.size >= keptMax) kept.clear()
    kept.set(policy.version, changed)
    return changed
  }

  return (message) => {
    if ('policy' in message) return { ...message, policy: over(message.policy) }
    if (message.type === 'user-message') return { ...message, settings: { ...message.settings, policy: over(message.settings.policy) } }
    return message
  }
}
