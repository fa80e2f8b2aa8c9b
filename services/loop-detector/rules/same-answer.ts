// Reworded calls keep getting the same answer: a search that finds nothing however it is put, a
// command in ever new spellings.
// SAME-ANSWER-1. Only different calls count; the same call again is the matter of
//     identical-success.
// SAME-ANSWER-2. Tools that change something are exempt, and so are acknowledgements: eight files
//     written are eight answers "ok". Where one free text does not say everything, only a long
//     answer counts: eight hosts may all be "healthy", but no two pages have one long text by
//     chance.
// SAME-ANSWER-3. Calls about different things (subject.ts) may well be a batch: they have twice the
//     leash. A search that comes back empty-handed has not, however it is put.
// SAME-ANSWER-4. An answer of several lines, none of which came with the one before, is another
//     answer, though it may differ in clocks only: that is the next window of a log.
// SAME-ANSWER-5. Any answer that the turn has not seen, and any change, ends all streaks.

import { limits } from '../../../shared/contract/limits.ts'
import type { CallEvidence } from '../evidence.ts'
import { noProgress } from '../intervention-text.ts'
import { beginStreak, climb, matched, type Streak, weightiest } from '../ladder.ts'
import { sameAnswers, sameAnswersOfOthers } from '../patience.ts'
import { meet, touch } from '../recency.ts'
import type { Finding, Rule } from '../rule.ts'
import { subjectOf } from '../subject.ts'

/** `lines`: of the latest answer. */
type AnswerStreak = Streak & { rounds: number; calls: Set<string>; lines: ReadonlySet<string> }
type Memory = Map<string, AnswerStreak>

export const sameAnswer: Rule<Memory> = {
  name: 'same-answer',
  version: 4,
  kind: 'tool_loop',
  thresholds: ['loop.identicalSuccesses'],
  description: 'Reworded calls keep getting the same answer.',
  firesWhen:
    'calls in ever new words have one answer for the 8th time; about ever new files, hosts or ids for the 16th',
  endedBy: 'an answer that the turn has not seen, or a change',
  sentence: 'kept rewording a call that brought the same result',
  begin: () => new Map(),

  judge(memory, { round, calls, news }, { loop }) {
    if (news.text) memory.clear()
    const findings: Finding[] = []
    for (const call of calls) {
      const says = meaningOf(call)
      if (says === 'nothing') continue
      const all = counted(memory, call.result, call, round)
      if (all === undefined) continue
      if (all.rounds >= (says === 'empty' ? sameAnswers(loop) : sameAnswersOfOthers(loop)))
        findings.push(finding(all, call))
      // The first answer is not news to anybody yet, so nobody looks at what it was about.
      if (says === 'empty' || all.rounds < 2) continue
      const ofSubject = counted(
        memory,
        `${call.result} ${subjectOf(call.value, call.freeText)}`,
        call,
        round,
      )
      if (ofSubject !== undefined && ofSubject.rounds + 1 >= sameAnswers(loop))
        findings.push(finding(ofSubject, call))
    }
    return weightiest(findings)
  },
}

/** Undefined: the round has been counted for it, or this call has. */
function counted(
  memory: Memory,
  key: string,
  call: CallEvidence,
  round: number,
): AnswerStreak | undefined {
  const streak = memory.get(key) ?? {
    ...beginStreak(),
    rounds: 0,
    calls: new Set(),
    lines: new Set(),
  }
  const lines = linesOf(call.text)
  const isOther =
    streak.lines.size > 1 && lines.size > 1 && ![...lines].some((line) => streak.lines.has(line))
  streak.lines = lines
  if (isOther) return undefined
  const isReworded = meet(streak.calls, call.key, limits.loopStreaksMax)
  if (!isReworded || streak.round === round) return undefined
  matched(streak, call)
  streak.rounds += 1
  touch(memory, key, streak, limits.loopStreaksMax)
  return streak
}

/** The first lines of an answer, as they came. */
function linesOf(text: string): ReadonlySet<string> {
  const head = text.slice(0, linesCharactersMax)
  return new Set(head.includes('\n') ? head.split('\n').filter((line) => line.trim() !== '') : [])
}

const linesCharactersMax = 2_048

/**
 * What the same answer to different calls of this kind says: nothing, or that they got nowhere,
 * with empty hands or not.
 */
function meaningOf({
  failure,
  effect,
  poll,
  freeText,
  answer,
}: CallEvidence): 'nothing' | 'empty' | 'answer' {
  if (failure !== undefined || effect !== 'reads' || poll) return 'nothing'
  if (emptyHanded.test(answer)) return 'empty'
  return answer.length >= (freeText ? shortAnswerMin : longAnswerMin) ? 'answer' : 'nothing'
}

const emptyHanded =
  /^(?:\[\]|\{\}|(?:no|0|zero) (?:results?|match|matches|hits?|entries|records?|items?|rows?|documents?|files?)\b.*|nothing found\.?|not found\.?)$/i
/**
 * Characters from which an answer is no acknowledgement ("ok", "done", "true"), and from which it
 * is no fact that many things share.
 */
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
