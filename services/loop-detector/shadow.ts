// Rules in shadow: they judge as usual. Their interventions are reported, not applied.
//
// A rule in shadow reports only the actions it would reach in this turn. After its round
// without tools only the end can follow, and nothing after that.
// It hides no other rule, and no other rule hides it. Each has its own memory, actions and
// reports.
// A rule that enforces again starts each streak at the bottom, because the model read
// none of the reports.

import type { Intervention, Policy } from '../../shared/contract/messages.ts'

/**
 * By rule in shadow in the last round: the strongest action it would have reached. Plain data, at most
 * one entry a rule.
 */
export type Shadows = Map<string, { reached: Intervention; round: number } | 'nothing'>

export function isShadow(policy: Policy, rule: string): boolean {
  return policy.shadowed.includes(rule)
}

/**
 * The intervention to report. `finding`: that of the rule in this round. `silent`:
 * its end after a round without text and call.
 */
export function shadowIntervention(
  shadows: Shadows,
  rule: string,
  finding: Intervention | undefined,
  { round, silent }: { round: number; silent: ((cause: Intervention) => Intervention) | undefined },
): Intervention | undefined {
  const before = shadows.get(rule) ?? 'nothing'
  const wouldBe = before === 'nothing' ? finding : further(before, finding, round, silent)
  shadows.set(
    rule,
    wouldBe === undefined || wouldBe.action === 'nudge' ? before : { reached: wouldBe, round },
  )
  return wouldBe
}

function further(
  { reached, round: reachedIn }: { reached: Intervention; round: number },
  finding: Intervention | undefined,
  round: number,
  silent: ((cause: Intervention) => Intervention) | undefined,
): Intervention | undefined {
  if (reached.action === 'end') return undefined
  if (silent !== undefined && reachedIn === round - 1) return silent(reached)
  return finding?.action === 'end' ? finding : undefined
}
