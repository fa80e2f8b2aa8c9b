// An agent is started again and again for one task, and its reports bring nothing new.
//
// Tasks are equal without stamps. A report is new by a name, a path or a number that no
// report in the turn had, or if most of its words are new. Rounds are counted, not siblings.
// A new report on the task ends its streak. A new report of a look at agents, and a new
// result of any other call, end all streaks: the parent checks, or something changed.
// A report that may fail by capacity or network does not count.

import { limits } from '../../../shared/contract/limits.ts'
import { remember } from '../../../shared/lib/recency.ts'
import { sameTask as textOf } from '../../../shared/model-texts/interventions.ts'
import type { CallEvidence } from '../evidence/call-evidence.ts'
import { isWaiting } from '../evidence/evidence.ts'
import { type CountedStreak, counted, found, weightiest } from '../ladder.ts'
import { looksAtAgent, reportIn } from '../meaning/agent-task.ts'
import type { Spoken } from '../meaning/question.ts'
import { namesIn, stemsIn } from '../meaning/wording.ts'
import type { Finding, Rule } from '../rule.ts'

/** `known`: the words of all reports of agents. */
type Memory = {
  tasks: Map<string, CountedStreak>
  known: Set<string>
}

export const sameTask: Rule<Memory> = {
  name: 'same-task',
  version: 2,
  kind: 'tool_loop',
  thresholds: ['loop.identicalSuccesses'],
  description: 'An agent is started again for the same task, and its reports bring nothing new.',
  firesWhen:
    'an agent is started for the same task for the 5th time, and its reports bring no new name, path or number and few new words',
  endedBy: 'a report with something new, or a new result of another call',
  sentence: 'kept starting agents for the same task',
  initial: () => ({ tasks: new Map(), known: new Set() }),

  judge(memory, { calls, spoken }, { loop }) {
    const findings: Finding[] = []
    for (const [at, call] of calls.entries()) {
      const { task, report } = spoken[at] ?? {}
      if (task === undefined || report === undefined) {
        if (isNews(memory, call)) memory.tasks.clear()
        continue
      }
      if (call.failure?.kind === 'transient') continue
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
  if (!looksAtAgent(call)) return call.isNew
  const report = reportIn(call.text)
  return isNewReport(memory, { words: stemsIn(report), names: namesIn(report) })
}

/** Adds the words of the report to those of all reports. */
function isNewReport({ known }: Memory, { words, names }: Spoken['report']): boolean {
  const isNew = (word: string) => remember(known, word, limits.loopSeenMax)
  const hasName = names.filter(isNew).length > 0
  return 2 * words.filter(isNew).length > words.length || hasName
}

function finding(streak: CountedStreak, { tool, shown }: CallEvidence): Finding {
  return found(streak, {
    key: `${tool}(${shown.arguments})`,
    reason: `${tool} started an agent for the same task in ${streak.rounds} rounds, and its reports brought nothing new: ${shown.outcome}`,
    text: textOf(streak.shown, streak.rounds),
  })
}
