// Reads that differ and bring nothing new: windows of a file that was read before, searches with
// known hits only.
//
// RULES-SWEEP-1. Lines count: a result with one line that is new in the turn ends the streak. So
//     does a change, and any other new result of its tool.
// RULES-SWEEP-2. Only reads with long results of several lines count. identical-success has the
//     repeats of one call, same-answer those of one answer.

import { limits } from '../../../shared/contract/limits.ts'
import { remember } from '../../../shared/lib/recency.ts'
import { noProgress, finding as texts } from '../../../shared/model-texts/interventions.ts'
import type { CallEvidence } from '../evidence/evidence.ts'
import { textHash } from '../evidence/text-hash.ts'
import { addMatch, emptyStreak, found, type Streak } from '../ladder.ts'
import { sameAnswerRoundsMax } from '../patience.ts'
import type { Rule } from '../rule.ts'

/**
 * `lines`: hashes of the lines in results. `results`: whole results of other calls. A forgotten
 * entry seems new again, which errs on the harmless side.
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
  version: 4,
  kind: 'tool_loop',
  thresholds: ['loop.identicalSuccesses'],
  description: 'Different reads bring no new line.',
  firesWhen: 'different reads bring no new line for the 8th time',
  endedBy: 'a line that is new in the turn, another new result, or a change',
  sentence: 'kept reading lines that it had already read',
  initial: () => ({
    lines: new Set(),
    results: new Set(),
    calls: new Set(),
    streak: emptyStreak(),
    rounds: 0,
  }),

  judge(memory, { round, calls, news }, { loop }) {
    if (news.change) Object.assign(memory, { streak: emptyStreak(), rounds: 0 })
    const old: CallEvidence[] = []
    let isNew = false
    for (const call of calls) {
      if (!sweeps(call)) {
        if (call.failure === undefined && remember(memory.results, call.result, limits.loopSeenMax))
          isNew = true
        continue
      }
      const isOther = remember(memory.results, call.result, limits.loopSeenMax)
      if (addLines(memory, call.text)) isNew = true
      else if (isOther && remember(memory.calls, call.key, limits.loopSeenMax)) old.push(call)
    }
    if (isNew) {
      Object.assign(memory, { streak: emptyStreak(), rounds: 0 })
      return undefined
    }
    const [first] = old
    if (first === undefined) return undefined
    addMatch(memory.streak, first)
    memory.rounds += 1
    if (memory.rounds < sameAnswerRoundsMax(loop)) return undefined
    return found(memory.streak, {
      key: first.tool,
      reason: `${first.tool} and others brought nothing in ${memory.rounds} rounds that had not been read before`,
      text: noProgress(memory.streak.shown, texts.sweep),
      evidence: [...memory.streak.evidence, { round, ordinal: -1 }].slice(
        -limits.interventionEvidenceMax,
      ),
    })
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

/** Whether a line is new. The lines beyond the maximum count as new. */
function addLines({ lines }: Memory, text: string): boolean {
  const all = text.split('\n', limits.loopLinesMax + 1)
  let isNew = all.length > limits.loopLinesMax
  for (const line of all.slice(0, limits.loopLinesMax)) {
    const plain = line.trim()
    if (plain !== '' && remember(lines, textHash(plain), limits.loopLinesMax)) isNew = true
  }
  return isNew
}
