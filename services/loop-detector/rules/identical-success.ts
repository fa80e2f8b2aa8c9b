// The same call keeps succeeding with the same result (I3): no progress, although nothing fails.
//
// IDENTICAL-SUCCESS-1. Any new result ends all streaks: the model may repeat one call while it
//     learns from another.
// IDENTICAL-SUCCESS-2. Calls of a declared poller, and calls after a wait, are polling. Polling has
//     a higher limit, not an infinite one.

import { limits } from '../../../shared/contract/limits.ts'
import type { CallEvidence } from '../evidence.ts'
import { noProgress } from '../intervention-text.ts'
import { addMatch, climb, emptyStreak, roundsText, type Streak, weightiest } from '../ladder.ts'
import { pollRoundsMax } from '../patience.ts'
import { touch } from '../recency.ts'
import type { Finding, Rule } from '../rule.ts'

type SuccessStreak = Streak & {
  /** Rounds with this call and this result, and the ones of them without polling. */
  rounds: number
  impatientRounds: number
  /** The number of rounds with a wait, as of the newest of them. */
  waits: number
}

type Memory = { waits: number; streaks: Map<string, SuccessStreak> }

export const identicalSuccess: Rule<Memory> = {
  name: 'identical-success',
  version: 3,
  kind: 'tool_loop',
  thresholds: ['loop.identicalSuccesses'],
  description: 'The same call keeps succeeding with the same result.',
  firesWhen:
    'the same call has the same result for the 5th time and nothing else was new, or for the 25th time if it polls or follows a wait',
  endedBy: 'any new result',
  sentence: 'kept repeating a call with the same result',
  initial: () => ({ waits: 0, streaks: new Map() }),

  judge(memory, { calls, news }, { loop }) {
    if (news.outcome) memory.streaks.clear()
    if (calls.some(({ waits, failure }) => waits && failure === undefined)) memory.waits += 1
    const findings: Finding[] = []
    for (const call of calls) {
      if (call.failure !== undefined) continue
      const streak = countCall(memory, call)
      if (streak.impatientRounds >= loop.identicalSuccesses || streak.rounds >= pollRoundsMax(loop))
        findings.push(finding(streak, call))
    }
    return weightiest(findings)
  },
}

function countCall(memory: Memory, call: CallEvidence): SuccessStreak {
  const known = memory.streaks.get(call.outcome)
  const streak = known ?? { ...emptyStreak(), rounds: 0, impatientRounds: 0, waits: memory.waits }
  const isPolling = call.poll || call.waits || memory.waits > streak.waits
  addMatch(streak, call)
  streak.rounds += 1
  if (!isPolling) streak.impatientRounds += 1
  streak.waits = memory.waits
  touch(memory.streaks, call.outcome, streak, limits.loopStreaksMax)
  return streak
}

function finding(streak: SuccessStreak, call: CallEvidence): Finding {
  const label = `${call.tool}(${call.shown.arguments})`
  return {
    rung: climb(streak),
    ordinary: false,
    key: label,
    reason: `${label} ${call.shown.outcome} in ${roundsText(streak.rounds)}, and nothing else was new`,
    text: noProgress(streak.shown, [
      'These identical calls returned the same result each time. Making this call',
      'again will return it again.',
    ]),
    class: 'no_progress',
    evidence: streak.evidence,
  }
}
