// Every rule that holds after a run. A new rule is one file and one line here.

import { approvals } from './checkers/approvals.ts'
import { budgetKept } from './checkers/budget-kept.ts'
import { commits } from './checkers/commits.ts'
import { rejectedNeverStart } from './checkers/denied-never-start.ts'
import { guardAnswers } from './checkers/guard-answers.ts'
import { guardsDecide } from './checkers/guards-decide.ts'
import { guestAdvice } from './checkers/guest-advice.ts'
import { guestRounds } from './checkers/guest-rounds.ts'
import { guestRuns } from './checkers/guest-runs.ts'
import { messagesEnd } from './checkers/messages-end.ts'
import { noStartAfterStop } from './checkers/no-start-after-stop.ts'
import { oneContentPerId } from './checkers/one-content-per-id.ts'
import { oneResultPerCall } from './checkers/one-result-per-call.ts'
import { processesGoOn } from './checkers/processes-go-on.ts'
import { readable } from './checkers/readable.ts'
import { stamps } from './checkers/stamps.ts'
import { starts } from './checkers/starts.ts'
import { unknownExplained } from './checkers/unknown-explained.ts'
import { wholeModelAnswers } from './checkers/whole-model-answers.ts'
import type { Checker, Evidence, Violation } from './evidence.ts'
import { withRecords } from './guest-calls.ts'

const ofAll: Checker[] = [readable, processesGoOn, oneContentPerId, commits, budgetKept]

/** Of Weir's own agents, in the log without guests. */
const ofAgents: Checker[] = [
  messagesEnd,
  oneResultPerCall,
  starts,
  unknownExplained,
  wholeModelAnswers,
  stamps,
  rejectedNeverStart,
  guardsDecide,
  guardAnswers,
  approvals,
  noStartAfterStop,
]

/** Of guests, in their part of the log. */
const ofGuests: Checker[] = [guestRuns, guestRounds, guestAdvice]

export function check(evidence: Evidence): Violation[] {
  const own = withRecords(evidence, { ofGuests: false })
  const guests = withRecords(evidence, { ofGuests: true })
  return [
    ...ofAll.flatMap((checker) => checker.check(evidence)),
    ...ofAgents.flatMap((checker) => checker.check(own)),
    ...ofGuests.flatMap((checker) => checker.check(guests)),
  ]
}
