// The same call keeps succeeding with the same result (I3): no progress, though nothing fails.
// IDENTICAL-SUCCESS-1. Any new result ends all streaks: the model may look at one thing again while
//     it learns another.
// IDENTICAL-SUCCESS-2. Looks at a declared poller, and looks before which the model waited, are
//     polling: they have a longer leash, not an endless one.

import { limits } from '../../../shared/contract/limits.ts'
import type { CallEvidence } from '../evidence.ts'
import { noProgress } from '../intervention-text.ts'
import { beginStreak, climb, matched, roundsText, type Streak, weightiest } from '../ladder.ts'
import { polls } from '../patience.ts'
import { touch } from '../recency.ts'
import type { Finding, Rule } from '../rule.ts'

type SuccessStreak = Streak & {
  /** Rounds with this call and this result, and those of them that were no polling. */
  rounds: number
  impatientRounds: number
  /** Rounds with a wait up to the newest of them. */
  waits: number
}

type Memory = { waits: number; streaks: Map<string, SuccessStreak> }

export const identicalSuccess: Rule<Memory> = {
  name: 'identical-success',
  version: 2,
  kind: 'tool_loop',
  thresholds: ['loop.identicalSuccesses'],
  description: 'The same call keeps succeeding with the same result.',
  firesWhen:
    'the same call has the same result for the 5th time and nothing else was new; a poller, or a look after a wait, for the 25th',
  endedBy: 'any new result',
  sentence: 'kept repeating a call that brought the same result',
  begin: () => ({ waits: 0, streaks: new Map() }),

  judge(memory, { calls, news }, { loop }) {
    if (news.outcome) memory.streaks.clear()
    if (calls.some(({ waits, failure }) => waits && failure === undefined)) memory.waits += 1
    const findings: Finding[] = []
    for (const call of calls) {
      if (call.failure !== undefined) continue
      const streak = counted(memory, call)
      if (streak.impatientRounds >= loop.identicalSuccesses || streak.rounds >= polls(loop))
        findings.push(finding(streak, call))
    }
    return weightiest(findings)
  },
}

function counted(memory: Memory, call: CallEvidence): SuccessStreak {
  const known = memory.streaks.get(call.outcome)
  const streak = known ?? { ...beginStreak(), rounds: 0, impatientRounds: 0, waits: memory.waits }
  const isPolling = call.poll || call.waits || memory.waits > streak.waits
  matched(streak, call)
  streak.rounds += 1
  if (!isPolling) streak.impatientRounds += 1
  streak.waits = memory.waits
  touch(memory.streaks, call.outcome, streak, limits.loopStreaksMax)
  return streak
}

function finding(streak: SuccessStreak, call: CallEvidence): Finding {
  const what = `${call.tool}(${call.shown.arguments})`
  return {
    rung: climb(streak),
    ordinary: false,
    key: what,
    reason: `${what} ${call.shown.outcome} in ${roundsText(streak.rounds)}, and nothing else was new`,
    text: noProgress(streak.shown, [
      'These identical calls returned the same result each time. Making this call',
      'again will return it again.',
    ]),
    class: 'no_progress',
    evidence: streak.evidence,
  }
}
