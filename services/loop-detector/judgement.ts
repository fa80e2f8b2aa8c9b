// The judgement of a finished round: what is new in it, what each rule says, and the one
// intervention that comes of it.
// LOOP-DETECTOR-JUDGEMENT-1. Rules see each round once, in order, and each keeps its own memory;
//     the weightiest finding is the intervention.
// LOOP-DETECTOR-JUDGEMENT-2. A text-only round that an intervention asked for and that stays
//     without visible text is the end, whichever rule asked.
// LOOP-DETECTOR-JUDGEMENT-3. Nothing of a rule in shadow is in the intervention; what it would have
//     been is told beside it (shadow.ts).

import { limits } from '../../shared/contract/limits.ts'
import type {
  Intervention,
  Policy,
  Rejection,
  RoundChecked,
} from '../../shared/contract/messages.ts'
import { shortened } from '../../shared/lib/text-cut.ts'
import type { RoundEvidence } from './evidence.ts'
import { stepDown, weightiest } from './ladder.ts'
import { beginNovelty, type Novelty, newsOf } from './novelty.ts'
import type { Finding, JudgedRound, Rule } from './rule.ts'
import { schemaFailure, sharpened } from './rules/schema-failure.ts'
import { rules } from './rules.ts'
import { isShadow, type Shadows, toldOf } from './shadow.ts'

/** What is remembered of a turn in order to judge its next round. Plain data, bounded. */
export type LoopMemory = {
  novelty: Novelty
  /** By rule's name; each knows the type of its own. */
  rules: Map<string, unknown>
  /** The intervention of the last round, if it asked for text only. */
  asked: Intervention | null
  shadows: Shadows
}

/**
 * What is made of a round. `intervention` null: go on. `shadowed`: what rules in shadow would have
 * done, ordinary reminders too.
 */
export type Judgement = { intervention: Intervention | null; shadowed: Intervention[] }

export function beginMemory(): LoopMemory {
  return { novelty: beginNovelty(), rules: new Map(), asked: null, shadows: new Map() }
}

/** Takes the round into the memory. */
export function judge(memory: LoopMemory, evidence: RoundEvidence, policy: Policy): Judgement {
  const round: JudgedRound = Object.assign(evidence, {
    news: newsOf(memory.novelty, evidence.calls),
  })
  const { asked, shadows } = memory
  const findings: Intervention[] = []
  const shadowed: Intervention[] = []
  if (asked !== null && round.textOnly && !round.spoke && !isShadow(policy, asked.rule))
    findings.push(stillSilent(asked, round))
  const silent =
    round.spoke || round.called ? undefined : (asked: Intervention) => stillSilent(asked, round)
  for (const rule of rules) {
    const own = memoryOf(memory, rule)
    const inShadow = isShadow(policy, rule.name)
    if (!inShadow && shadows.delete(rule.name)) stepDown(own)
    const finding = heard(rule, own, round, policy)
    if (!inShadow) {
      if (finding !== undefined) findings.push(finding)
      continue
    }
    const told = toldOf(shadows, rule.name, finding, { round: round.round, silent })
    if (told !== undefined) shadowed.push(told)
  }
  const intervention = weightiest(findings) ?? null
  memory.asked = intervention?.rung === 'text_only' ? intervention : null
  return { intervention, shadowed }
}

/**
 * The rejections of a round that is not yet judged, in the words that the model shall read (I5.2);
 * in shadow the rule has none of its own.
 */
export function wordsFor(
  memory: LoopMemory,
  { rejections, response, policy }: RoundChecked,
): Rejection[] {
  if (rejections.length === 0 || isShadow(policy, schemaFailure.name)) return rejections
  return sharpened(memoryOf(memory, schemaFailure), rejections, response.calls, policy)
}

/** The memory that this rule began: nothing else is ever put under its name. */
function memoryOf<Memory>(memory: LoopMemory, rule: Rule<Memory>): Memory {
  const known = memory.rules.get(rule.name)
  if (known !== undefined) return known as Memory
  const begun = rule.begin()
  memory.rules.set(rule.name, begun)
  return begun
}

function heard<Memory>(
  { name, version, judge }: Rule<Memory>,
  memory: Memory,
  round: JudgedRound,
  policy: Policy,
): Intervention | undefined {
  const finding = judge(memory, round, policy)
  return finding && interventionOf(name, version, finding)
}

function interventionOf(rule: string, ruleVersion: number, finding: Finding): Intervention {
  const ends = finding.rung === 'end'
  const key = shortened(finding.key, limits.reasonBytesMax)
  const reason = shortened(finding.reason, limits.reasonBytesMax)
  return {
    ...finding,
    rule,
    ruleVersion,
    key,
    reason,
    text: ends ? '' : finding.text,
    class: ends ? finding.class : null,
  }
}

function stillSilent(asked: Intervention, { round }: JudgedRound): Intervention {
  return {
    ...asked,
    rung: 'end',
    reason: shortened(
      `asked for an answer without tools, the model gave no visible text; before that ${asked.reason}`,
      limits.reasonBytesMax,
    ),
    text: '',
    class: 'no_progress',
    evidence: [...asked.evidence, { round, ordinal: -1 }],
  }
}
