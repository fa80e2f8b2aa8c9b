// The redaction of an agent (`redact` in its file): on activity records before they are written, and
// on the records of a conversation before they are shown. The rules are in the log, with the policy of
// each round and with the history, so every reader has them.
// Records that models and tools read stay as they are.
// The answer and the arguments of calls stay in `activity`: the client of the
// conversation shows the answer, runs calls and allows them.
// A rule that this version cannot use hides every text.

import type { Call, Message, RedactRule } from '../../contract/messages.ts'
import { patternOfRule, redactPathIn } from '../../contract/redaction/redact-rule.ts'
import { everything } from '../../contract/redaction/value-pattern.ts'
import { createRedaction } from './redaction.ts'
import type { RedactionRule } from './redaction-rule.ts'

/** A record for `activity` about calls, with the arguments that its texts may repeat. */
export function redactedActivity<M extends Message>(
  message: M,
  rules: readonly RedactRule[],
  calls: readonly Pick<Call, 'ordinal' | 'name' | 'raw'>[] = [],
): M {
  if (rules.length === 0) return message
  const redaction = createRedaction(compiled(rules), { keepsIds: true })
  redaction.learnCalls(calls)
  redaction.learn(message)
  return redaction.redact(message) as M
}

/** The rules that a record carries. */
export function rulesIn(message: Message): readonly RedactRule[] {
  if (message.type === 'carried')
    return (message.state?.queue ?? []).flatMap(({ settings }) => settings.policy.redact)
  const { redact, policy, settings } = message as {
    redact?: RedactRule[]
    policy?: { redact?: RedactRule[] }
    settings?: { policy: { redact: RedactRule[] } }
  }
  return redact ?? policy?.redact ?? settings?.policy.redact ?? []
}

/** Without repeats. */
export function distinctRules(rules: Iterable<RedactRule>): RedactRule[] {
  const all = new Map<string, RedactRule>()
  for (const rule of rules) all.set(JSON.stringify([rule.name, rule.pattern, rule.path]), rule)
  return [...all.values()]
}

/** `replace`: a bundle keeps equal values equal, so a replay of it sees the same loops. */
export function redactionRules(
  rules: readonly RedactRule[],
  replace: 'pseudonym' | 'word',
): RedactionRule[] {
  return rules.map((rule) => ({ ...ruleOf(rule), replace }))
}

function ruleOf(rule: RedactRule): Omit<RedactionRule, 'replace'> {
  const { name } = rule
  const none = { name, pointer: undefined, in: undefined, tool: undefined }
  if (rule.path === null) return { ...none, pattern: patternOfRule(rule) }
  const path = redactPathIn(rule.path)
  if (path === undefined) return { ...none, pattern: everything }
  return { ...none, pattern: undefined, pointer: path.steps, in: new Set([path.of]) }
}

// Compiling takes longer than a record, and the rules of an agent rarely change.
const known = new Map<string, RedactionRule[]>()
const knownMax = 100

function compiled(rules: readonly RedactRule[]): RedactionRule[] {
  const key = JSON.stringify(rules)
  const found = known.get(key) ?? redactionRules(rules, 'word')
  if (known.size >= knownMax) known.clear()
  known.set(key, found)
  return found
}
