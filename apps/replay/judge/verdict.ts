// Compares the interventions of a scenario with its label. `weir judge --json` prints a line for
// each. Fields are only added, and none changes its meaning.

import type { RuleKind } from '../../../services/loop-detector/rule.ts'
import { rules } from '../../../services/loop-detector/rules.ts'
import type { Intervention, Policy } from '../../../shared/contract/messages.ts'
import { play, type Raised } from './play.ts'
import type { Expectation, OwnSettings, Scenario, Step } from './scenario.ts'

/** Describes the first intervention. Its fields are null if there is none. */
export type JudgedScenario = {
  id: string
  fired: boolean
  /** The number of the step whose outcome led to it. */
  step: number | null
  /** The rule's name and version, `identical-failure@1`. `cap`: a budget. */
  rule: string | null
  /** In the words of labels. */
  kind: InterventionKind | null
  action: string | null
  reason: string | null
  expected: Expectation | null
  /** Whether it is as expected. Null: there is no label. */
  ok: boolean | null
  /** The difference from the expectation, or ''. */
  wrong: string
  /** The first intervention that each rule in shadow would have made. */
  shadowed: NamedIntervention[]
  /**
   * The settings of a conversation's latest round that are not the defaults, by key. They judged it
   * unless the caller set other values. Null for scenarios and imported transcripts.
   */
  settings: OwnSettings | null
}

export type NamedIntervention = {
  step: number
  rule: string
  kind: InterventionKind
  action: string
  reason: string
}

export type InterventionKind = RuleKind | 'budget'

/**
 * `policyWith`: the policy under a conversation's settings, or under none. Caps of `--set` apply if
 * the scenario names none.
 */
export type Given = {
  policyWith: (own: OwnSettings) => Policy
  caps: { calls: number | undefined; rounds: number | undefined }
}

/** The policy of each step. Steps with the same settings share it. */
export function policyIn(
  { settingsOf }: Scenario,
  { policyWith }: Pick<Given, 'policyWith'>,
): (step: Step) => Policy {
  const policies = new Map<string, Policy>()
  return (step) => {
    const own = settingsOf?.(step) ?? {}
    const key = JSON.stringify(own)
    const policy = policies.get(key) ?? policyWith(own)
    policies.set(key, policy)
    return policy
  }
}

export function judge(scenario: Scenario, { policyWith, caps }: Given): JudgedScenario {
  const { id, limits = {}, expect } = scenario
  const all = play(scenario, policyIn(scenario, { policyWith }), {
    calls: limits.max_tool_calls ?? caps.calls,
    rounds: limits.max_turns ?? caps.rounds,
  })
  const raised = all.filter((one) => 'cap' in one || !one.shadow)
  const [first] = raised
  const steps = raised.map(({ step }) => step)
  const wrong = wrongWith(scenario, steps)
  const known = { id, fired: first !== undefined, step: first?.step ?? null }
  const label = {
    expected: expect ?? null,
    ok: expect === undefined || expect.fires === null ? null : wrong === '',
    wrong,
  }
  const rest = { ...label, shadowed: firstInShadow(all), settings: latestSettings(scenario) }
  if (first === undefined)
    return { ...known, rule: null, kind: null, action: null, reason: null, ...rest }
  if ('cap' in first)
    return {
      ...known,
      rule: 'cap',
      kind: 'budget',
      action: 'text_only',
      reason: first.reason,
      ...rest,
    }
  return { ...known, ...named(first.step, first.intervention), ...rest }
}

function named(
  step: number,
  { rule, ruleVersion, action, reason }: Intervention,
): NamedIntervention {
  return { step, rule: `${rule}@${ruleVersion}`, kind: kindOf(rule), action, reason }
}

/** A rule that this Weir does not know most likely finds loops of calls. */
function kindOf(name: string): RuleKind {
  return rules.find((rule) => rule.name === name)?.kind ?? 'tool_loop'
}

function latestSettings({ steps, settingsOf }: Scenario): OwnSettings | null {
  const latest = steps.at(-1)
  return settingsOf === undefined || latest === undefined ? null : settingsOf(latest)
}

function firstInShadow(raised: Raised[]): NamedIntervention[] {
  const byRule = new Map<string, NamedIntervention>()
  for (const one of raised)
    if (!('cap' in one) && one.shadow && !byRule.has(one.intervention.rule))
      byRule.set(one.intervention.rule, named(one.step, one.intervention))
  return [...byRule.values()]
}

function wrongWith(
  { steps, expect, second_by_step: secondBy }: Scenario,
  raised: number[],
): string {
  const [first] = raised
  if (expect === undefined || expect.fires === null) return ''
  if (!expect.fires)
    return first === undefined ? '' : `intervened after step ${first}, and should not have`
  if (first === undefined)
    return `never intervened, and should have by step ${expect.by_step ?? steps.length}`
  const by = expect.by_step ?? steps.length
  if (first > by) return `first intervened after step ${first}, and should have by step ${by}`
  if (typeof secondBy !== 'number') return ''
  const goOn = Math.max(
    first,
    steps.findIndex((step, index) => step.kind === 'user' && index + 1 > first) + 1,
  )
  return raised.some((step) => step > goOn && step <= secondBy)
    ? ''
    : `no second intervention by step ${secondBy}`
}
