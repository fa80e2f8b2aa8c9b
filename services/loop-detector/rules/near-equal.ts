// Calls that differ only in what changes by itself (stamp.ts: the time, an attempt's number, a
// nonce, a remark on a command) keep succeeding with the same result: one call in ever new
// spellings. The last and latest signal, because a difference may matter in ways that nobody sees.
// NEAR-EQUAL-1. Heard after all other rules, and only of successes: for failures the error counts,
//     whatever the arguments.
// NEAR-EQUAL-2. Any result that its tool did not give before, and any call that is another one
//     without its stamps, ends all streaks.
// NEAR-EQUAL-3. What is meant to be asked again, and waits, have their longer leash.

import { limits } from '../../../shared/contract/limits.ts'
import type { CallEvidence } from '../evidence.ts'
import { fingerprint } from '../fingerprint.ts'
import { noProgress } from '../intervention-text.ts'
import { beginStreak, climb, matched, type Streak, weightiest } from '../ladder.ts'
import { polls, sameAnswers } from '../patience.ts'
import { meet, touch } from '../recency.ts'
import type { Finding, Rule } from '../rule.ts'
import { withoutStamps } from '../stamp.ts'

type NearStreak = Streak & { rounds: number; calls: Set<string> }

/** `known`: calls without their stamps, with their results. */
type Memory = { known: Set<string>; streaks: Map<string, NearStreak> }

export const nearEqual: Rule<Memory> = {
  name: 'near-equal',
  version: 4,
  kind: 'tool_loop',
  thresholds: ['loop.identicalSuccesses'],
  description:
    'Calls that differ only in a time, a counter or a random value keep succeeding with the same result.',
  firesWhen:
    'calls that differ only in a time, an attempt, a nonce or a remark on a command have the same result for the 8th time. Calls of a poller: the 25th',
  endedBy: 'a result that is new, or a call that differs in more',
  sentence: 'made no progress',
  begin: () => ({ known: new Set(), streaks: new Map() }),

  judge(memory, { round, calls }, { loop }) {
    const seen = calls.filter(({ vetoed, effect }) => !vetoed && effect !== 'waits').map(nearOf)
    // All of them, because each is to be known from now on.
    let isNew = false
    for (const { near } of seen) if (meet(memory.known, near, limits.loopSeenMax)) isNew = true
    if (isNew) memory.streaks.clear()
    const findings: Finding[] = []
    for (const { call, near, isStamped } of seen) {
      const streak = memory.streaks.get(near) ?? { ...beginStreak(), rounds: 0, calls: new Set() }
      if (
        !isStamped ||
        !meet(streak.calls, call.key, limits.loopStreaksMax) ||
        streak.round === round
      )
        continue
      matched(streak, call)
      streak.rounds += 1
      touch(memory.streaks, near, streak, limits.loopStreaksMax)
      if (streak.rounds >= (call.poll ? polls(loop) : sameAnswers(loop)))
        findings.push(finding(streak, call))
    }
    return weightiest(findings)
  },
}

/** `near`: the same for calls that differ only in stamps and have the same result. */
function nearOf(call: CallEvidence): { call: CallEvidence; near: string; isStamped: boolean } {
  const { tool, result, outcome, failure, value, mayBeStamped } = call
  const plain = failure === undefined && mayBeStamped ? withoutStamps(value) : undefined
  if (plain === undefined) return { call, near: outcome, isStamped: false }
  return { call, near: fingerprint('near-arguments', tool, plain, result), isStamped: true }
}

function finding(streak: NearStreak, call: CallEvidence): Finding {
  return {
    rung: climb(streak),
    ordinary: false,
    key: `${call.tool} → ${call.shown.outcome}`,
    reason: `${call.tool} was called in ${streak.rounds} rounds with arguments that differ only in a time, a number of the attempt, a nonce or a remark on a command, and ${call.shown.outcome}`,
    text: noProgress(streak.shown, [
      'These calls differ only in a time, a counter, a random value or a remark, and',
      'returned the same result each time. Another one will return it again.',
    ]),
    class: 'no_progress',
    evidence: streak.evidence,
  }
}
