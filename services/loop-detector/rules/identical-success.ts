// The same call keeps succeeding with the same result (I3): no progress, although nothing fails.
//
// IDENTICAL-SUCCESS-1. Any new result ends all streaks: the model may repeat one call while it
//     learns from another.
// IDENTICAL-SUCCESS-2. Calls that wait, and calls after a sleep, do not count. Their bound is that
//     of still-waiting.
// IDENTICAL-SUCCESS-3. Echoes are one call with one result, in any words (echo.ts).
// IDENTICAL-SUCCESS-4. A reported failure that may clear has the bound of reported-failure. A step
//     (step.ts) has the doubled limit.

import { limits } from '../../../shared/contract/limits.ts'
import { touch } from '../../../shared/lib/recency.ts'
import { noProgress, finding as texts } from '../../../shared/model-texts/interventions.ts'
import { type CallEvidence, isWaiting } from '../evidence/evidence.ts'
import { addMatch, emptyStreak, found, roundsText, type Streak, weightiest } from '../ladder.ts'
import { isStep } from '../meaning/step.ts'
import { stepRoundsMax } from '../patience.ts'
import type { Finding, Rule } from '../rule.ts'

type SuccessStreak = Streak & {
  /** Rounds with this call and this result, and the ones of them without a sleep before. */
  rounds: number
  impatientRounds: number
  /** The number of rounds with a sleep, as of the newest of them. */
  sleeps: number
}

type Memory = { sleeps: number; streaks: Map<string, SuccessStreak> }

export const identicalSuccess: Rule<Memory> = {
  name: 'identical-success',
  version: 6,
  kind: 'tool_loop',
  thresholds: ['loop.identicalSuccesses'],
  description: 'The same call keeps succeeding with the same result.',
  firesWhen:
    'the same call has the same result for the 5th time and nothing else was new, unless it waits or follows a sleep. A step such as `undo` or the key Tab: the 10th time. Calls that only return their own words, such as `echo`, are one call',
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
      const { streak, isAfterSleep } = countCall(memory, call)
      if (isAfterSleep || streak.impatientRounds < loop.identicalSuccesses) continue
      if (streak.impatientRounds >= stepRoundsMax(loop) || !isStep(call))
        findings.push(finding(streak, call))
    }
    return weightiest(findings)
  },
}

function countCall(
  memory: Memory,
  call: CallEvidence,
): { streak: SuccessStreak; isAfterSleep: boolean } {
  const known = memory.streaks.get(call.outcome)
  const streak = known ?? { ...emptyStreak(), rounds: 0, impatientRounds: 0, sleeps: memory.sleeps }
  const isAfterSleep = memory.sleeps > streak.sleeps
  addMatch(streak, call)
  streak.rounds += 1
  if (!isAfterSleep) streak.impatientRounds += 1
  streak.sleeps = memory.sleeps
  touch(memory.streaks, call.outcome, streak, limits.loopStreaksMax)
  return { streak, isAfterSleep }
}

function finding(streak: SuccessStreak, call: CallEvidence): Finding {
  const label = `${call.tool}(${call.shown.arguments})`
  return found(streak, {
    key: label,
    reason: `${label} ${call.shown.outcome} in ${roundsText(streak.rounds)}, and nothing else was new`,
    text: noProgress(streak.shown, call.isEcho ? texts.echo : texts.identical),
  })
}
