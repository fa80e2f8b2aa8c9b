// The contract of a rule. Adding one is a file in rules/ and a line in rules.ts; it needs to know
// nothing of records, units or other rules.

import type { EvidenceRef, FailureClass, Policy, Rung } from '../../shared/contract/messages.ts'
import type { RoundEvidence } from './evidence.ts'
import type { News } from './novelty.ts'

export type JudgedRound = RoundEvidence & { news: News }

export type Rule<Memory> = {
  /**
   * Also a key of `loop.rules` in shared/agents/file/agent.schema.json, where people set its mode.
   */
  readonly name: string
  /** Goes up when the rule would decide anything differently; it stands in every intervention. */
  readonly version: number
  /**
   * What ends its streaks beside a new message of the user: for people, shown with each
   * intervention.
   */
  readonly endedBy: string
  /**
   * What it remembers at the beginning of a turn. Plain data, bounded (R7); where it climbs a
   * ladder, the rung is called `rung` (stepDown in ladder.ts).
   */
  begin(): Memory
  /**
   * May change its memory in place. Undefined: nothing to say. Called once for each judged round,
   * in order; also for rounds without calls.
   */
  judge(memory: Memory, round: JudgedRound, policy: Policy): Finding | undefined
}

/** An intervention without the rule that it comes from. */
export type Finding = {
  rung: Rung
  ordinary: boolean
  /** The loop key, readable. */
  key: string
  /** For people: what repeated, how often. */
  reason: string
  /** For the model, at the top of the next request; not used at the rung `end`. */
  text: string
  /** Of the turn, where this ends it. */
  class: FailureClass
  evidence: EvidenceRef[]
}
