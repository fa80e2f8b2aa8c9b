// The settings of an agent file: the defaults of an agent or of a guest, overridden by the file.

import type { AgentSettings, RedactRule } from '../../../contract/messages.ts'
import { lowestTreeCaps } from '../../../contract/turn/tree-caps.ts'
import { defaultSettings, policyOf } from '../../policy/policy.ts'
import type { AgentContent, RuleMode } from '../content.ts'

/**
 * Keys keep the order of the defaults, because a policy's version is a hash of its text. A file
 * that repeats the defaults has the version of the defaults.
 */
export function settingsOf(
  content: AgentContent,
  defaults: AgentSettings = defaultSettings,
  redact?: RedactRule[],
): AgentSettings {
  const { policy } = defaults
  const { rules = {}, ...loop } = content.loop ?? {}
  return {
    fallback: content.fallback ?? defaults.fallback,
    attempts: content.attempts ?? defaults.attempts,
    stallMs: content.stallMs ?? defaults.stallMs,
    firstByteMs: content.firstByteMs ?? defaults.firstByteMs,
    system: defaults.system,
    output: defaults.output,
    context: defaults.context,
    contents: defaults.contents,
    afterTurn: defaults.afterTurn,
    policy: policyOf({
      caps: { ...policy.caps, ...content.caps },
      loop: { ...policy.loop, ...loop },
      empty: { ...policy.empty, ...content.empty },
      startWithinMs: content.startWithinMs ?? policy.startWithinMs,
      graceMs: content.graceMs ?? policy.graceMs,
      toolTries: content.toolTries ?? policy.toolTries,
      shadowed: shadowedBy(rules),
      redact: redact ?? policy.redact,
      tree: lowestTreeCaps(null, content.tree),
    }),
  }
}

/** The rules in shadow, sorted, because a policy's version depends on their order. */
export function shadowedBy(rules: Record<string, RuleMode | undefined>): string[] {
  return Object.keys(rules)
    .filter((name) => rules[name] === 'shadow')
    .sort()
}
