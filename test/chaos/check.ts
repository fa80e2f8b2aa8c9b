// Every rule that holds after a run. A new rule is one file and one line here.

import { approvals } from './checkers/approvals.ts'
import { commits } from './checkers/commits.ts'
import { guardAnswers } from './checkers/guard-answers.ts'
import { guardsDecide } from './checkers/guards-decide.ts'
import { messagesEnd } from './checkers/messages-end.ts'
import { oneContentPerId } from './checkers/one-content-per-id.ts'
import { oneResultPerCall } from './checkers/one-result-per-call.ts'
import { processesGoOn } from './checkers/processes-go-on.ts'
import { readable } from './checkers/readable.ts'
import { rejectedNeverStart } from './checkers/rejected-never-start.ts'
import { stamps } from './checkers/stamps.ts'
import { starts } from './checkers/starts.ts'
import { unknownExplained } from './checkers/unknown-explained.ts'
import { wholeModelAnswers } from './checkers/whole-model-answers.ts'
import type { Checker, Evidence, Violation } from './evidence.ts'

const checkers: Checker[] = [
  readable,
  processesGoOn,
  oneContentPerId,
  messagesEnd,
  oneResultPerCall,
  starts,
  unknownExplained,
  wholeModelAnswers,
  commits,
  stamps,
  rejectedNeverStart,
  guardsDecide,
  guardAnswers,
  approvals,
]

export function check(evidence: Evidence): Violation[] {
  return checkers.flatMap((checker) => checker.check(evidence))
}
