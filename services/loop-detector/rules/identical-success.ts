// The same call keeps succeeding with the same result (I3): no progress, although nothing fails.
//
// Any new result ends all streaks: the model may repeat one call while it
// learns from another.
// Calls that wait, and calls after a sleep, do not count. Their bound is that
// of still-waiting.
// Echoes are one call with one result, in any words (echo.ts).
// A reported failure that may clear has the bound of reported-failure. A step
// (step.ts) has the doubled limit.

import { noProgress, finding as texts } from '../../../shared/model-texts/interventions.ts'
import type { CallEvidence } from '../evidence/call-evidence.ts'
import { isWaiting } from '../evidence/evidence.ts'
import { type CountedStreak, counted, found, roundsText, weightiest } from '../ladder.ts'
import { isStep } from '../meaning/step.ts'
import { stepRoundsMax } from '../patience.ts'
import type { Finding, Rule } from '../rule.ts'

type SuccessStreak = CountedStreak & {
  /** Rounds without a sleep before. */
  impatientRounds: number
  /** The number of rounds with a sleep, as of the newest of them. */
  sleeps: number
}

type Memory = { sleeps: number; streaks: Map<string, SuccessStreak> }

export const identicalSuccess: Rule<Memory> = {
  name: 'identical-success',
  version: 7,
  kind: 'tool_loop',
  thresholds: ['loop.identicalSuccesses'],
  description: 'The same call keeps succeeding with the same result.',
  firesWhen:
    'the same call has the same result for the 5th time and nothing else was new. A step such as `undo` or Tab: the 10th time',
  endedBy: 'any new result',
  sentence: 'kept repeating a call with the same result',
  initial: () => ({ sleeps: 0, streaks: new Map() }),

  judge(memory, { calls, news }, { loop }) {
    if (news.outcome) memory.streaks.clear()
    if (calls.some(({ sleeps }) => sleeps)) memory.sleeps += 1
    const findings: Finding[] = []
    for (const call of calls) {
      if (call.failure !== undefined || isWaiting(call)) continue
      if (call.reported?.kind === 'transient') continue
      const { sleeps } = memory
      const isAfterSleep = sleeps > (memory.streaks.get(call.outcome)?.sleeps ?? sleeps)
      const streak = counted(memory.streaks, call.outcome, call, () => ({
        impatientRounds: 0,
        sleeps,
      }))
      if (streak === undefined) continue
      if (!isAfterSleep) streak.impatientRounds += 1
      streak.sleeps = sleeps
      if (isAfterSleep || streak.impatientRounds < loop.identicalSuccesses) continue
      if (streak.impatientRounds >= stepRoundsMax(loop) || !isStep(call))
        findings.push(finding(streak, call))
    }
    return weightiest(findings)
  },
}

function finding(streak: SuccessStreak, call: CallEvidence): Finding {
  const label = `${call.tool}(${call.shown.arguments})`
  return found(streak, {
    key: label,
    reason: `${label} ${call.shown.outcome} in ${roundsText(streak.rounds)}, and nothing else was new`,
    text: noProgress(streak.shown, call.isEcho ? texts.echo : texts.identical),
  })
}
