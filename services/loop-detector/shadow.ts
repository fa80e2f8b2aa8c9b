// Rules in shadow: they judge as ever, and what they would have done is told and not done.
// SHADOW-1. A rule in shadow is told as far as it would have come in this turn: after the round
//     without tools that it would have asked for only the end could have followed, and after the
//     end nothing.
// SHADOW-2. It hides no other rule, and no other hides it: each has its own memory, its own rungs,
//     and is told by itself.
// SHADOW-3. A rule that enforces again begins at the bottom with every streak: the model has seen
//     nothing of what was told.

import type { Intervention, Policy } from '../../shared/contract/messages.ts'

/**
 * By the name of a rule that was in shadow in the last round: how far it would have come. Plain
 * data, one entry for each rule at most.
 */
export type Shadows = Map<string, { asked: Intervention; round: number } | 'nothing'>

export function isShadow(policy: Policy, rule: string): boolean {
  return policy.shadowed.includes(rule)
}

/**
 * Keeps SHADOW-1. `finding`: of a rule in shadow in this round; `silent`: what it says instead
 * where the round brought neither text nor call.
 */
export function toldOf(
  shadows: Shadows,
  rule: string,
  finding: Intervention | undefined,
  { round, silent }: { round: number; silent: ((asked: Intervention) => Intervention) | undefined },
): Intervention | undefined {
  const before = shadows.get(rule) ?? 'nothing'
  const told = before === 'nothing' ? finding : further(before, finding, round, silent)
  shadows.set(rule, told === undefined || told.rung === 'nudge' ? before : { asked: told, round })
  return told
}

function further(
  { asked, round: askedIn }: { asked: Intervention; round: number },
  finding: Intervention | undefined,
  round: number,
  silent: ((asked: Intervention) => Intervention) | undefined,
): Intervention | undefined {
  if (asked.rung === 'end') return undefined
  if (silent !== undefined && askedIn === round - 1) return silent(asked)
  return finding?.rung === 'end' ? finding : undefined
}
