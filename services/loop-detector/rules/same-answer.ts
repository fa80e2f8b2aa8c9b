// Reworded calls keep getting the same answer: a search that finds nothing however it is put, a command in ever new spellings.
// A1. Only different calls count; the same call again is the matter of identical-success.
// A2. Tools that change something are exempt, and so are acknowledgements: eight files written are eight answers "ok". Where calls name different
//     things, only a long answer counts: eight hosts may all be "healthy", but no two pages have one long text by chance.
// A3. Any answer that the turn has not seen, and any change, ends all streaks.

import { limits } from '../../../shared/limits.ts'
import type { CallEvidence } from '../evidence.ts'
import { noProgress } from '../intervention-text.ts'
import type { Streak } from '../ladder.ts'
import { beginStreak, climb, matched, weightiest } from '../ladder.ts'
import { sameAnswers } from '../patience.ts'
import { meet, touch } from '../recency.ts'
import type { Finding, Rule } from '../rule.ts'

type AnswerStreak = Streak & { rounds: number; calls: Set<string> }
type Memory = Map<string, AnswerStreak>

export const sameAnswer: Rule<Memory> = {
  name: 'same-answer',
  version: 1,
  begin: () => new Map(),

  judge(memory, { round, calls, news }, { loop }) {
    if (news.text) memory.clear()
    const findings: Finding[] = []
    for (const call of calls) {
      if (!says(call)) continue
      const key = JSON.stringify([call.tool, call.result])
      const streak = memory.get(key) ?? { ...beginStreak(), rounds: 0, calls: new Set() }
      const isReworded = meet(streak.calls, call.key, limits.loopStreaksMax)
      if (!isReworded || streak.round === round) continue
      matched(streak, call)
      streak.rounds += 1
      touch(memory, key, streak, limits.loopStreaksMax)
      if (streak.rounds >= sameAnswers(loop)) findings.push(finding(streak, call))
    }
    return weightiest(findings)
  },
}

/** Whether the same answer to different calls of this kind says that they got nowhere. */
function says({ failure, effect, poll, freeText, answer }: CallEvidence): boolean {
  if (failure !== undefined || effect !== 'reads' || poll) return false
  if (emptyHanded.test(answer)) return true
  return answer.length >= (freeText ? shortAnswerMin : longAnswerMin)
}

const emptyHanded =
  /^(?:\[\]|\{\}|(?:no|0|zero) (?:results?|match|matches|hits?|entries|records?|items?|rows?|documents?|files?)\b.*|nothing found\.?|not found\.?)$/i
/** Characters from which an answer is no acknowledgement ("ok", "done", "true"), and from which it is no fact that many things share. */
const shortAnswerMin = 8
const longAnswerMin = 64

function finding(streak: AnswerStreak, call: CallEvidence): Finding {
  return {
    rung: climb(streak),
    ordinary: false,
    key: `${call.tool} → ${call.shown.outcome}`,
    reason: `${call.tool} gave the same answer in ${streak.rounds} rounds with different arguments: ${call.shown.outcome}`,
    text: noProgress(streak.shown, [
      'These calls differ only in their wording and returned the same result each',
      'time. Rewording them again will return it again.',
    ]),
    class: 'no_progress',
    evidence: streak.evidence,
  }
}
