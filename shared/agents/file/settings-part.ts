// The settings of an agent file: the defaults, with what the file says put over them.

import type { AgentSettings } from '../../contract/messages.ts'
import { defaultSettings, policyOf } from '../agents.ts'
import type { AgentContent, RuleMode } from './content.ts'

/**
 * Keys keep the order that they have in the defaults, because a policy's version is made of its
 * text: who says what holds anyway has the default's.
 */
export function settingsOf(content: AgentContent): AgentSettings {
  const { policy } = defaultSettings
  const { rules = {}, ...loop } = content.loop ?? {}
  return {
    fallback: content.fallback ?? defaultSettings.fallback,
    attempts: content.attempts ?? defaultSettings.attempts,
    stallMs: content.stallMs ?? defaultSettings.stallMs,
    policy: policyOf({
      caps: { ...policy.caps, ...content.caps },
      loop: { ...policy.loop, ...loop },
      empty: { ...policy.empty, ...content.empty },
      startWithinMs: content.startWithinMs ?? policy.startWithinMs,
      graceMs: content.graceMs ?? policy.graceMs,
      toolTries: content.toolTries ?? policy.toolTries,
      shadowed: shadowedBy(rules),
    }),
  }
}

/**
 * The rules that are in shadow, in the order of the alphabet, because a policy's version is made of
 * their order too.
 */
export function shadowedBy(rules: Record<string, RuleMode | undefined>): string[] {
  return Object.keys(rules)
    .filter((name) => rules[name] === 'shadow')
    .sort()
}
