// All rules, in the order in which they are heard: where two have equally much to say of a round,
// the first one speaks.

import type { Rule } from './rule.ts'
import { chanting } from './rules/chanting.ts'
import { cycle } from './rules/cycle.ts'
import { emptyResponse } from './rules/empty-response.ts'
import { identicalFailure } from './rules/identical-failure.ts'
import { identicalSuccess } from './rules/identical-success.ts'
import { monologue } from './rules/monologue.ts'
import { nearEqual } from './rules/near-equal.ts'
import { repeatedRound } from './rules/repeated-round.ts'
import { sameAnswer } from './rules/same-answer.ts'
import { schemaFailure } from './rules/schema-failure.ts'
import { sweep } from './rules/sweep.ts'
import { unreadCall } from './rules/unread-call.ts'

// Each rule gets back the memory that it began; that is kept in judgement.ts, under the rule's
// name.
export const rules: Rule<unknown>[] = [
  identicalFailure,
  schemaFailure,
  identicalSuccess,
  repeatedRound,
  cycle,
  sameAnswer,
  sweep,
  nearEqual,
  chanting,
  monologue,
  unreadCall,
  emptyResponse,
]
