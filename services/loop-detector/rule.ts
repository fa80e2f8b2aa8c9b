// The contract of a rule: one record with its judgement and all its texts for people. A rule knows
// no records, units or other rules.
// To add one, write a file in rules/, add a line to rules.ts and run `make schemas`, which writes
// its part of agent.schema.json and its row in docs/guard/policies.md.

import type {
  EvidenceRef,
  FailureClass,
  InterventionAction,
  Policy,
} from '../../shared/contract/messages.ts'
import type { ThresholdKey } from '../../shared/contract/thresholds.ts'
import type { RoundEvidence } from './evidence/call-evidence.ts'
import type { Spoken } from './meaning/question.ts'
import type { News } from './novelty/novelty.ts'

/** `spoken`: the words of each call for its reader. */
export type JudgedRound = RoundEvidence & { news: News; spoken: Spoken[] }

/** The category of an intervention, as labels of scenarios and `weir judge` name it. */
export type RuleKind = 'tool_loop' | 'empty_cap' | 'monologue' | 'content_loop'

export type Rule<Memory> = {
  /** Also its key in `loop.rules` of an agent file, where people set its mode. */
  readonly name: string
  /** Increases with each change of its decisions. Every intervention has it. */
  readonly version: number
  readonly kind: RuleKind
  /** The thresholds that its docs name; a rule may share one. Empty: no setting moves it. */
  readonly thresholds: readonly ThresholdKey[]
  /** One sentence on its loop, for the schema of agent files. */
  readonly description: string
  /** When it intervenes by default, for the docs. */
  readonly firesWhen: string
  /**
   * The events that end its streaks, next to a new message of the user. The docs and each
   * intervention show it.
   */
  readonly endedBy: string
  /** The report's words for its loop; completes "the model". */
  readonly sentence: string
  /** The key of its findings adds nothing to the sentence, so the report leaves it out. */
  readonly keyRepeatsSentence?: true
  /**
   * Its memory at the beginning of a turn. Plain data, bounded (R7). A action in it is called `action`
   * (stepDown in ladder.ts).
   */
  initial(): Memory
  /**
   * May change its memory in place. Called once for each judged round, in order, also for rounds
   * without calls. Undefined: no finding.
   */
  judge(memory: Memory, round: JudgedRound, policy: Policy): Finding | undefined
}

/** An intervention without its rule. */
export type Finding = {
  action: InterventionAction
  ordinary: boolean
  /** The loop key, readable. */
  key: string
  /** For people: the repetition and its count. */
  reason: string
  /** For the model, at the top of the next request. Not used at `end`. */
  text: string
  /** The class of the turn, if this ends it. */
  class: FailureClass
  evidence: EvidenceRef[]
}
