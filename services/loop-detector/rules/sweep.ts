// Reads that differ and cover nothing new: windows of a file that was read before, searches whose
// hits are all known.
// RULES-SWEEP-1. What counts is lines: a result with one line that the turn has not seen is news
//     and ends the streak. So does a change, and any other result that its tool did not give
//     before.
// RULES-SWEEP-2. Only reads whose results have several lines and say enough; the same call again is
//     the matter of identical-success, the same answer as a whole that of same-answer. Of a result
//     with more lines than are looked at the rest is taken for new.

import { limits } from '../../../shared/contract/limits.ts'
import type { CallEvidence } from '../evidence.ts'
import { noProgress } from '../intervention-text.ts'
import { beginStreak, climb, matched, type Streak } from '../ladder.ts'
import { sameAnswers } from '../patience.ts'
import { meet } from '../recency.ts'
import type { Rule } from '../rule.ts'
import { textHash } from '../text-hash.ts'

/**
 * `lines`: hashes of those that results brought; `results`: of other calls, whole. What was
 * forgotten seems new again, which is the harmless side.
 */
type Memory = {
  lines: Set<number>
  results: Set<string>
  calls: Set<string>
  streak: Streak
  rounds: number
}

export const sweep: Rule<Memory> = {
  name: 'sweep',
  version: 3,
  kind: 'tool_loop',
  thresholds: ['loop.identicalSuccesses'],
  description: 'Reads that differ bring no line that was not read before.',
  firesWhen: 'reads that differ bring no new line for the 8th time',
  endedBy: 'a line that the turn has not read, another new result, or a change',
  sentence: 'kept reading what it had read before',
  begin: () => ({
    lines: new Set(),
    results: new Set(),
    calls: new Set(),
    streak: beginStreak(),
    rounds: 0,
  }),

  judge(memory, { round, calls, news }, { loop }) {
    if (news.change) Object.assign(memory, { streak: beginStreak(), rounds: 0 })
    const old: CallEvidence[] = []
    let isNew = false
    for (const call of calls) {
      if (!sweeps(call)) {
        if (call.failure === undefined && meet(memory.results, call.result, limits.loopSeenMax))
          isNew = true
        continue
      }
      const isOther = meet(memory.results, call.result, limits.loopSeenMax)
      if (takeLines(memory, call.text)) isNew = true
      else if (isOther && meet(memory.calls, call.key, limits.loopSeenMax)) old.push(call)
    }
    if (isNew) {
      Object.assign(memory, { streak: beginStreak(), rounds: 0 })
      return undefined
    }
    const [first] = old
    if (first === undefined) return undefined
    matched(memory.streak, first)
    memory.rounds += 1
    if (memory.rounds < sameAnswers(loop)) return undefined
    return {
      rung: climb(memory.streak),
      ordinary: false,
      key: first.tool,
      reason: `${first.tool} and others brought nothing in ${memory.rounds} rounds that had not been read before`,
      text: noProgress(memory.streak.shown, [
        'Every line that these calls returned had been returned before. You have seen',
        'what is there.',
      ]),
      class: 'no_progress',
      evidence: [...memory.streak.evidence, { round, ordinal: -1 }].slice(
        -limits.interventionEvidenceMax,
      ),
    }
  },
}

const charactersMin = 24

function sweeps({ failure, effect, poll, text }: CallEvidence): boolean {
  return (
    failure === undefined &&
    effect === 'reads' &&
    !poll &&
    text.length >= charactersMin &&
    text.trim().includes('\n')
  )
}

/** Whether one of them is new. */
function takeLines({ lines }: Memory, text: string): boolean {
  const all = text.split('\n', limits.loopLinesMax + 1)
  let isNew = all.length > limits.loopLinesMax
  for (const line of all.slice(0, limits.loopLinesMax)) {
    const plain = line.trim()
    if (plain !== '' && meet(lines, textHash(plain), limits.loopLinesMax)) isNew = true
  }
  return isNew
}
