// Every rule that holds after a run. A new rule is one file and one line here. A run without the
// evidence that a rule needs skips the rule.

import { noStartAfterStop } from './checkers/calls/no-start-after-stop.ts'
import { onceEffects } from './checkers/calls/once-effects.ts'
import { starts } from './checkers/calls/starts.ts'
import { unknownExplained } from './checkers/calls/unknown-explained.ts'
import { absentGuards } from './checkers/guards/absent-guards.ts'
import { approvals } from './checkers/guards/approvals.ts'
import { deniedNeverStart } from './checkers/guards/denied-never-start.ts'
import { guardAnswers } from './checkers/guards/guard-answers.ts'
import { guardsDecide } from './checkers/guards/guards-decide.ts'
import { noUnapprovedStart } from './checkers/guards/no-unapproved-start.ts'
import { stamps } from './checkers/guards/stamps.ts'
import { guestAdvice } from './checkers/guests/guest-advice.ts'
import { guestAdviceNext } from './checkers/guests/guest-advice-next.ts'
import { guestAllJudged } from './checkers/guests/guest-all-judged.ts'
import { withRecords } from './checkers/guests/guest-calls.ts'
import { guestOfferOnce } from './checkers/guests/guest-offer-once.ts'
import { guestResultOwn } from './checkers/guests/guest-result-own.ts'
import { guestRounds } from './checkers/guests/guest-rounds.ts'
import { guestRuns } from './checkers/guests/guest-runs.ts'
import { guestTrees } from './checkers/guests/guest-trees.ts'
import { commits } from './checkers/log/commits.ts'
import { noReadableContent } from './checkers/log/no-readable-content.ts'
import { oneContentPerId } from './checkers/log/one-content-per-id.ts'
import { processesGoOn } from './checkers/log/processes-go-on.ts'
import { readable } from './checkers/log/readable.ts'
import { replayEqualsLog } from './checkers/log/replay-equals-log.ts'
import { weirReplay } from './checkers/log/weir-replay.ts'
import { treeCaps } from './checkers/trees/tree-caps.ts'
import { treeSums } from './checkers/trees/tree-sums.ts'
import { budgetKept } from './checkers/turns/budget-kept.ts'
import { historyValid } from './checkers/turns/history-valid.ts'
import { messagesEnd } from './checkers/turns/messages-end.ts'
import { oneResultPerCall } from './checkers/turns/one-result-per-call.ts'
import { providerLimits } from './checkers/turns/provider-limits.ts'
import { shadowOnlyReports } from './checkers/turns/shadow-only-reports.ts'
import { wholeModelAnswers } from './checkers/turns/whole-model-answers.ts'
import type { Checker, Evidence, Part, Violation } from './evidence.ts'

type AnyChecker = Omit<Checker, 'needs'> & { needs: readonly Part[] }

const ofAll: AnyChecker[] = [
  readable,
  noReadableContent,
  processesGoOn,
  oneContentPerId,
  commits,
  budgetKept,
  shadowOnlyReports,
  replayEqualsLog,
  weirReplay,
]

/** Of Weir's own agents, in the log without guests. */
const ofAgents: AnyChecker[] = [
  messagesEnd,
  oneResultPerCall,
  wholeModelAnswers,
  historyValid,
  starts,
  noStartAfterStop,
  onceEffects,
  unknownExplained,
  deniedNeverStart,
  guardsDecide,
  guardAnswers,
  stamps,
  absentGuards,
  approvals,
  noUnapprovedStart,
  treeCaps,
  treeSums,
  providerLimits,
]

/** Of guests, in their part of the log. */
const ofGuests: AnyChecker[] = [
  guestRounds,
  guestRuns,
  guestOfferOnce,
  guestResultOwn,
  guestAdvice,
  guestAdviceNext,
  guestAllJudged,
  guestTrees,
]

export const checkers: readonly AnyChecker[] = [...ofAll, ...ofAgents, ...ofGuests]

export async function check(evidence: Evidence): Promise<Violation[]> {
  return [
    ...(await run(ofAll, evidence)),
    ...(await run(ofAgents, withRecords(evidence, { ofGuests: false }))),
    ...(await run(ofGuests, withRecords(evidence, { ofGuests: true }))),
  ]
}

async function run(all: AnyChecker[], evidence: Evidence): Promise<Violation[]> {
  const violations: Violation[] = []
  for (const { name, needs, check } of all) {
    if (needs.some((part) => evidence[part] === undefined)) continue
    for (const finding of await check(evidence)) violations.push({ ...finding, checker: name })
  }
  return violations
}
