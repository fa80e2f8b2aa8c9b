// The judgement of a finished round: its news, the finding of each rule, and the one intervention
// that results.
//
// Each rule reads each round once, in order, and has its own memory. The
// weightiest finding is the intervention.
// A text-only round that an intervention required ends the turn if it
// brings no visible text, for any rule.
// A rule in shadow adds nothing to the intervention. Its own
// intervention is reported next to it (shadow.ts).

import { limits } from '../../shared/contract/limits.ts'
import type { Denial, Intervention, Policy, RoundChecked } from '../../shared/contract/messages.ts'
import { shortened } from '../../shared/lib/text-cut.ts'
import type { RoundEvidence } from './evidence/call-evidence.ts'
import { printOf } from './evidence/evidence.ts'
import { stepDown, weightiest } from './ladder.ts'
import { isPointed, onKnownPlace, type Place } from './meaning/place-on-screen.ts'
import { spokenBy } from './meaning/question.ts'
import { emptyNovelty, type Novelty, newsOf } from './novelty/novelty.ts'
import type { Finding, JudgedRound, Rule } from './rule.ts'
import { schemaFailure, sharpened } from './rules/schema-failure.ts'
import { rules } from './rules.ts'
import { isShadow, type Shadows, shadowIntervention } from './shadow.ts'
import { noWaits, type WaitMemory, withWaits } from './waiting/waits-of-turn.ts'

/** The memory of a turn, for the judgement of its next round. Plain data, bounded. */
export type LoopMemory = {
  novelty: Novelty
  /** Of clicks on the screen. */
  places: Place[]
  waits: WaitMemory
  /** The memory of each rule, by its name. */
  rules: Map<string, unknown>
  /** The intervention of the last round, if it required a text-only round. */
  textOnlyCause: Intervention | null
  shadows: Shadows
}

/**
 * The result of a judgement. `intervention` null: none. `shadowed`: the interventions of rules in
 * shadow, including ordinary reminders.
 */
export type Judgement = { intervention: Intervention | null; shadowed: Intervention[] }

export function emptyMemory(): LoopMemory {
  return {
    novelty: emptyNovelty(),
    places: [],
    waits: noWaits(),
    rules: new Map(),
    textOnlyCause: null,
    shadows: new Map(),
  }
}

/** Judges the round and adds it to the memory. */
export function judge(memory: LoopMemory, evidence: RoundEvidence, policy: Policy): Judgement {
  let calls = withWaits(memory.waits, evidence)
  let { print } = evidence
  if (calls.some(isPointed)) {
    calls = calls.map((call) => onKnownPlace(memory.places, call))
    print = printOf(calls)
  }
  const news = newsOf(memory.novelty, calls)
  const round: JudgedRound = { ...evidence, calls, print, news, spoken: calls.map(spokenBy) }
  const { textOnlyCause, shadows } = memory
  const findings: Intervention[] = []
  const shadowed: Intervention[] = []
  if (
    textOnlyCause !== null &&
    round.textOnly &&
    !round.spoke &&
    !isShadow(policy, textOnlyCause.rule)
  )
    findings.push(stillSilent(textOnlyCause, round))
  const silent =
    round.spoke || round.called ? undefined : (cause: Intervention) => stillSilent(cause, round)
  const hasShadows = policy.shadowed.length > 0 || shadows.size > 0 // rarely
  for (const rule of rules) {
    const own = memoryOf(memory, rule)
    const inShadow = hasShadows && isShadow(policy, rule.name)
    if (hasShadows && !inShadow && shadows.delete(rule.name)) stepDown(own)
    const finding = interventionBy(rule, own, round, policy)
    if (!inShadow) {
      if (finding !== undefined) findings.push(finding)
      continue
    }
    const wouldBe = shadowIntervention(shadows, rule.name, finding, { round: round.round, silent })
    if (wouldBe !== undefined) shadowed.push(wouldBe)
  }
  const intervention = weightiest(findings) ?? null
  memory.textOnlyCause = intervention?.action === 'text_only' ? intervention : null
  return { intervention, shadowed }
}

/**
 * The denials of a round before its judgement, with the texts for the model (I5.2). A rule in
 * shadow changes none.
 */
export function denialsToShow(
  memory: LoopMemory,
  { denials, response, policy }: RoundChecked,
): Denial[] {
  if (denials.length === 0 || isShadow(policy, schemaFailure.name)) return denials
  return sharpened(memoryOf(memory, schemaFailure), denials, response.calls, policy)
}

/** The memory of this rule. Only the rule itself writes under its name. */
function memoryOf<Memory>(memory: LoopMemory, rule: Rule<Memory>): Memory {
  const known = memory.rules.get(rule.name)
  if (known !== undefined) return known as Memory
  const initial = rule.initial()
  memory.rules.set(rule.name, initial)
  return initial
}

function interventionBy<Memory>(
  { name, version, judge }: Rule<Memory>,
  memory: Memory,
  round: JudgedRound,
  policy: Policy,
): Intervention | undefined {
  const finding = judge(memory, round, policy)
  return finding && interventionOf(name, version, finding)
}

function interventionOf(rule: string, ruleVersion: number, finding: Finding): Intervention {
  const ends = finding.action === 'end'
  const key = shortened(finding.key, limits.reasonBytesMax)
  const reason = shortened(finding.reason, limits.reasonBytesMax)
  return {
    ...finding,
    rule,
    ruleVersion,
    key,
    reason,
    text: ends ? '' : finding.text,
    evidence: [...finding.evidence], // a rule may add to its list in place
    class: ends ? finding.class : null,
  }
}

function stillSilent(cause: Intervention, { round, called }: JudgedRound): Intervention {
  // A front may see calls only, so a response with calls may have had a text.
  const instead = called ? 'called a tool again' : 'gave no visible text'
  const reason = `asked for an answer without tools, the model ${instead}; before that ${cause.reason}`
  return {
    ...cause,
    action: 'end',
    reason: shortened(reason, limits.reasonBytesMax),
    text: '',
    class: 'no_progress',
    evidence: [...cause.evidence, { round, ordinal: -1 }],
  }
}
