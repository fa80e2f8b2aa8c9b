// All rules, in order: of findings with equal weight, the first one is the intervention.

import type { Rule } from './rule.ts'
import { chanting } from './rules/chanting.ts'
import { cycle } from './rules/cycle.ts'
import { sameChange } from './rules/edits/same-change.ts'
import { unmovedError } from './rules/edits/unmoved-error.ts'
import { emptyResponse } from './rules/empty-response.ts'
import { identicalFailure } from './rules/identical-failure.ts'
import { identicalSuccess } from './rules/identical-success.ts'
import { monologue } from './rules/monologue.ts'
import { nearEqual } from './rules/near-equal.ts'
import { nothingNew } from './rules/nothing-new.ts'
import { repeatedRound } from './rules/repeated-round.ts'
import { sameAnswer } from './rules/same-answer.ts'
import { sameTask } from './rules/same-task.ts'
import { schemaFailure } from './rules/schema-failure.ts'
import { stillWaiting } from './rules/still-waiting.ts'
import { counting } from './rules/successes/counting.ts'
import { reportedFailure } from './rules/successes/reported-failure.ts'
import { sweep } from './rules/sweep.ts'
import { unreadCall } from './rules/unread-call.ts'

// judgement.ts keeps the memory of each rule under its name, so each rule gets its own type back.
export const rules: Rule<unknown>[] = [
  identicalFailure,
  schemaFailure,
  identicalSuccess,
  repeatedRound,
  cycle,
  sameAnswer,
  sameTask,
  reportedFailure,
  sameChange,
  unmovedError,
  sweep,
  nothingNew,
  nearEqual,
  counting,
  stillWaiting,
  chanting,
  monologue,
  unreadCall,
  emptyResponse,
]
