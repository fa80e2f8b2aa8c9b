// An operation fails again and again, and its tool reports each failure as a success: `{"status":
// "error","message":"Exhausted balance"}` for ever new prompts.
//
// Rounds are counted for each tool and each failure, with any arguments.
// One that may clear by itself has the patience of transient failures.
// The ladder has one step for each whole limit of rounds, because the
// answer may be meant otherwise.

import { noProgress, finding as texts } from '../../../../shared/model-texts/interventions.ts'
import { type CountedStreak, counted, found, roundsText, weightiest } from '../../ladder.ts'
import { reportedRoundsMax } from '../../patience.ts'
import type { Finding, Rule } from '../../rule.ts'

type Memory = Map<string, CountedStreak & { operation: string }>

export const reportedFailure: Rule<Memory> = {
  name: 'reported-failure',
  version: 1,
  kind: 'tool_loop',
  thresholds: ['loop.identicalFailures'],
  description: 'Successes keep reporting the same failed operation.',
  firesWhen:
    'short successful answers report the same failure for the 6th time, or for the 10th if it may clear by itself',
  endedBy: 'a success of the same operation that reports no failure, or a new change',
  sentence: 'kept calling an operation that reported its failure',
  initial: () => new Map(),

  judge(memory, { calls, news }, { loop }) {
    if (news.change) memory.clear()
    const findings: Finding[] = []
    for (const call of calls) {
      const { tool, operation, failure, reported } = call
      if (reported === undefined) {
        if (failure === undefined && memory.size > 0)
          for (const [key, streak] of memory) if (streak.operation === operation) memory.delete(key)
        continue
      }
      const { key, kind, reason } = reported
      const streak = counted(memory, key, call, () => ({ operation }))
      if (streak === undefined || streak.rounds % reportedRoundsMax(kind, loop) !== 0) continue
      findings.push(
        found(streak, {
          key: `${tool}: ${reason}`,
          reason: `${tool} succeeded in ${roundsText(streak.rounds)} and reported a failure: ${reason}`,
          text: noProgress(streak.shown, texts.reportedFailure(reason)),
        }),
      )
    }
    return weightiest(findings)
  },
}
