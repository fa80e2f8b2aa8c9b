// Reads that differ and bring nothing new: windows of a file that was read before, searches with
// known hits only.
//
// Pieces count (pieces.ts): a view with one piece that is new in the turn ends the
// streak. So does a change, and any other new result.
// Only new calls count. identical-success has the repeats of one call, same-answer
// those of one answer about different subjects.

import { limits } from '../../../shared/contract/limits.ts'
import { noProgress, finding as texts } from '../../../shared/model-texts/interventions.ts'
import { addMatch, emptyStreak, found, type Streak } from '../ladder.ts'
import { sameAnswerRoundsMax } from '../patience.ts'
import type { Rule } from '../rule.ts'

type Memory = { streak: Streak; rounds: number }

const noStreak = (): Memory => ({ streak: emptyStreak(), rounds: 0 })

export const sweep: Rule<Memory> = {
  name: 'sweep',
  version: 6,
  kind: 'tool_loop',
  thresholds: ['loop.identicalSuccesses'],
  description: 'Different reads bring no new line.',
  firesWhen: 'different reads bring no new line and no new link for the 8th time',
  endedBy: 'a line that is new in the turn, another new result, or a change',
  sentence: 'kept reading lines that it had already read',
  initial: noStreak,

  judge(memory, { round, news }, { loop }) {
    if (news.change || news.piece) Object.assign(memory, noStreak())
    const [first] = news.old
    if (first === undefined || news.piece) return undefined
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
