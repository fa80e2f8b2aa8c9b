// An agent is started again and again for one task, and its reports bring nothing new. Or the model
// repeats a question to a person or an agent in other words, with the same answer.
//
// SAME-TASK-1. Tasks are equal without stamps. A report is new by a name, a path or a number that no
//     report in the turn had, or if most of its words are new. Rounds are counted, not siblings.
// SAME-TASK-2. A new report on the task ends its streak. A new report of a look at agents, and a new
//     result of any other call, end all streaks: the parent checks, or something changed.
// SAME-TASK-3. A report that may fail by capacity or network does not count.

import { limits } from '../../../shared/contract/limits.ts'
import { remember } from '../../../shared/lib/recency.ts'
import {
  noProgress,
  sameTask as textOf,
  finding as texts,
} from '../../../shared/model-texts/interventions.ts'
import { type CallEvidence, isWaiting } from '../evidence/evidence.ts'
import { addMatch, type CountedStreak, counted, emptyStreak, found, weightiest } from '../ladder.ts'
import {
  looksAtAgent,
  type Question,
  questionOf,
  reportIn,
  wordsOfReport,
} from '../meaning/question.ts'
import { sameAnswerRoundsMax } from '../patience.ts'
import type { Finding, Rule } from '../rule.ts'

/**
 * The newest questions in a row with one answer. `shared`: the words that all of them have. `last`:
 * those of the newest one.
 */
type Asked = CountedStreak & { answer: string; shared: string[]; last: string[] }

/** `known`: the words of all reports of agents. */
type Memory = {
  asked: Asked | undefined
  tasks: Map<string, CountedStreak>
  known: Set<string>
}

export const sameTask: Rule<Memory> = {
  name: 'same-task',
  version: 1,
  kind: 'tool_loop',
  thresholds: ['loop.identicalSuccesses'],
  description:
    'An agent is started again for the same task, or a question comes back in other words, and the answers bring nothing new.',
  firesWhen:
    'an agent is started for the same task for the 5th time, and its reports bring no new name, path or number and few new words. A question to a person or an agent in other words has the same answer for the 8th time',
  endedBy: 'a report with something new, or a new result of another call',
  sentence: 'kept starting agents for the same task',
  initial: () => ({ asked: undefined, tasks: new Map(), known: new Set() }),

  judge(memory, { calls, news }, { loop }) {
    const questions = calls.map((call) => ({ call, question: questionOf(call) }))
    if (news.answer && questions.every(({ question }) => question === undefined))
      memory.asked = undefined
    const findings: Finding[] = []
    for (const { call, question } of questions) {
      if (question === undefined) {
        if (isNews(memory, call)) memory.tasks.clear()
        continue
      }
      const asked = countQuestion(memory, question, call)
      if (asked !== undefined && asked.rounds >= sameAnswerRoundsMax(loop))
        findings.push(rephrased(asked, call))
      const { task, report } = question
      if (task === undefined || call.failure?.kind === 'transient') continue
      if (isNewReport(memory, report)) memory.tasks.delete(task)
      const streak = counted(memory.tasks, task, call, () => ({}))
      if (streak !== undefined && streak.rounds >= loop.identicalSuccesses)
        findings.push(finding(streak, call))
    }
    return weightiest(findings)
  },
}

/** Of a call that starts no agent. A look at agents brings their reports. */
function isNews(memory: Memory, call: CallEvidence): boolean {
  if (call.failure !== undefined || isWaiting(call) || call.isEcho) return false
  return looksAtAgent(call) ? isNewReport(memory, reportIn(call.text)) : call.isNew
}

/** Adds the words of the report to those of all reports. */
function isNewReport({ known }: Memory, report: string): boolean {
  const { facts, words } = wordsOfReport(report)
  const isNew = (word: string) => remember(known, word, limits.loopSeenMax)
  const hasFact = facts.filter(isNew).length > 0
  return 2 * words.filter(isNew).length > words.length || hasFact
}

/** Undefined: this round is already counted. A question that differs in a third of its words is a batch. */
function countQuestion(
  memory: Memory,
  { words, answer }: Question,
  call: CallEvidence,
): Asked | undefined {
  if (answer === undefined) return undefined
  const known = memory.asked?.answer === answer ? memory.asked : undefined
  if (known?.round === call.ref.round) return undefined
  const { last, shared } = known ?? { last: [], shared: words }
  const isBatch = 3 * differ(words, last) <= words.length && 3 * differ(last, words) <= last.length
  const kept = shared.filter((word) => words.includes(word))
  const isSame = known !== undefined && kept.length >= 2
  const asked = isSame ? known : { ...emptyStreak(), answer, rounds: 0, shared: words, last: words }
  if (isSame && isBatch) return undefined
  Object.assign(asked, { shared: isSame ? kept : words, last: words })
  addMatch(asked, call)
  asked.rounds += 1
  memory.asked = asked
  return asked
}

function differ(words: string[], others: string[]): number {
  return words.filter((word) => !others.includes(word)).length
}

function rephrased(streak: Asked, { tool, shown }: CallEvidence): Finding {
  return found(streak, {
    key: `${tool} → ${shown.outcome}`,
    reason: `${tool} gave the same answer in ${streak.rounds} rounds with different arguments: ${shown.outcome}`,
    text: noProgress(streak.shown, texts.sameAnswer),
  })
}

function finding(streak: CountedStreak, { tool, shown }: CallEvidence): Finding {
  return found(streak, {
    key: `${tool}(${shown.arguments})`,
    reason: `${tool} started an agent for the same task in ${streak.rounds} rounds, and its reports brought nothing new: ${shown.outcome}`,
    text: textOf(streak.shown, streak.rounds),
  })
}
