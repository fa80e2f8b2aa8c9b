// The same call keeps failing, or different calls keep failing in the same way (I1). Either match
// is enough: (tool, arguments) or (tool, error). One dead service fails through several tools.
//
// Rounds are counted, not calls. Other rounds in between make no difference.
// A success of the same operation or a real change ends a streak, other
// successes do not. Any success of the tool ends one of wrong shapes, but for programs.
// Transient failures are counted separately, with a higher limit. One that states a new share of a
// whole (`6 of 48 updated`) ends its streaks.
// After the nudge a streak climbs only where a call or its masked error, but
// for names of arguments, occurs again. Otherwise each third round is nudged again.
// An error counts across tools only if a service is down or refuses the right
// (service-name.ts). A success of any tool of a service that their names state ends it.

import { limits } from '../../../shared/contract/limits.ts'
import { remember } from '../../../shared/lib/recency.ts'
import { identicalFailure as textOf } from '../../../shared/model-texts/interventions.ts'
import type { CallEvidence, Failure } from '../evidence/call-evidence.ts'
import {
  type CountedStreak,
  climb,
  counted,
  found as finding,
  roundsText,
  weightiest,
} from '../ladder.ts'
import {
  newErrorsRounds,
  reportedRoundsMax,
  sameErrorRoundsMax,
  transientRoundsMax,
} from '../patience.ts'
import type { Finding, Rule } from '../rule.ts'

type FailureStreak = CountedStreak & {
  tool: string
  /** By the names of tools; empty: none. */
  service: string
  /** Those of its calls. Only a streak across tools has several. */
  operations: Set<string>
  kind: Failure['kind']
  /** Rounds in which it was not transient. */
  firmRounds: number
  /**
   * The values of the call that the error repeats, if any, and whether they differed in the streak.
   * A constant value explains nothing about the others.
   */
  echoed: number | undefined
  namesValues: boolean
  /** Its calls and whole errors, and whether the newest match brought one of them again. */
  known: Set<string>
  recurs: boolean
  /** The rounds at its newest intervention. */
  roundsAtLast: number
}

type Streaks = Map<string, FailureStreak>
type Memory = { byArguments: Streaks; byError: Streaks; byService: Streaks }

export const identicalFailure: Rule<Memory> = {
  name: 'identical-failure',
  version: 5,
  kind: 'tool_loop',
  thresholds: ['loop.identicalFailures'],
  description: 'The same call keeps failing, or different calls keep failing in the same way.',
  firesWhen:
    'the same call fails for the 3rd time. Or different calls fail alike: the 3rd time for a wrong shape, a missing right or an unknown tool, the 4th for other errors. Failed lookups: the 6th. Passing errors, also by the same call: the 10th',
  endedBy: 'a success of the same operation, or a new change',
  sentence: 'kept making the same failing call',
  initial: () => ({ byArguments: new Map(), byError: new Map(), byService: new Map() }),

  judge(memory, { calls, news }, { loop }) {
    if (news.change) {
      memory.byArguments.clear()
      memory.byError.clear()
      memory.byService.clear()
    }
    for (const call of calls) if (call.failure === undefined) onSuccess(memory, call)
    const findings: Finding[] = []
    for (const call of calls) {
      const { tool, shown, failure } = call
      if (failure === undefined) continue
      if (failure.kind === 'transient' && call.isNew && share.test(call.text))
        endStreaks(memory, call)
      const { kind, reason, key, service } = failure
      const label = `${tool}(${shown.arguments})`
      const same = count(memory.byArguments, call.key, call, failure)
      if (same !== undefined) {
        const isFirm = kind !== 'transient' && same.firmRounds >= loop.identicalFailures
        if (isFirm || same.rounds >= transientRoundsMax(loop))
          findings.push(
            ...found(
              same,
              label,
              `${label} failed in ${roundsText(same.rounds)}, last with: ${reason}`,
            ),
          )
      }
      const alike = key && count(memory.byError, key, call, failure)
      if (alike && alike.rounds >= sameErrorRoundsMax(kind, alike.namesValues, loop))
        findings.push(
          ...found(
            alike,
            `${tool}: ${reason}`,
            `${tool} failed in the same way in ${roundsText(alike.rounds)}: ${reason}`,
          ),
        )
      const down = service && count(memory.byService, service.key, call, failure)
      // A streak of one operation is that of the error.
      if (down && down.operations.size > 1 && down.rounds >= reportedRoundsMax(kind, loop))
        findings.push(
          ...found(
            down,
            reason,
            `${down.operations.size} tools or programs failed alike in ${roundsText(down.rounds)}: ${reason}`,
          ),
        )
    }
    return weightiest(findings)
  },
}

/** A share of a whole that grows is progress, although the time was too short for all of it. */
const share = /\b\d+ ?(?:(?:out )?of|\/) ?\d+\b|\b\d{1,3} ?%/

function endStreaks({ byArguments, byError }: Memory, { key, failure }: CallEvidence): void {
  byArguments.delete(key)
  if (failure?.key !== undefined) byError.delete(failure.key)
}

function onSuccess(
  { byArguments, byError, byService }: Memory,
  { key, tool, service, operation }: CallEvidence,
): void {
  // The output of a program says nothing about the shape of the shell's arguments.
  const isShaped = (streak: FailureStreak) =>
    streak.kind === 'shape' &&
    streak.tool === tool &&
    ![...streak.operations].some((one) => one.startsWith(`${tool} `))
  byArguments.delete(key)
  for (const [other, streak] of byArguments) if (isShaped(streak)) byArguments.delete(other)
  for (const [other, streak] of byError) {
    if (streak.operations.has(operation) || isShaped(streak)) byError.delete(other)
  }
  for (const [other, streak] of byService)
    if (streak.operations.has(operation) || (service !== '' && streak.service === service))
      byService.delete(other)
}

/** Undefined: a sibling already counts for this round. */
function count(
  streaks: Streaks,
  key: string,
  call: CallEvidence,
  failure: Failure,
): FailureStreak | undefined {
  const { tool, operation } = call
  const streak = counted(streaks, key, call, () => ({
    tool,
    service: failure.service?.name ?? '',
    operations: new Set<string>(),
    kind: failure.kind,
    firmRounds: 0,
    echoed: failure.echoed,
    namesValues: false,
    known: new Set<string>(),
    recurs: false,
    roundsAtLast: 0,
  }))
  if (streak === undefined) return undefined
  if (failure.kind !== 'transient') streak.firmRounds += 1
  if (failure.echoed !== streak.echoed) streak.namesValues = true
  remember(streak.operations, operation, limits.loopStreaksMax)
  const isNewCall = remember(streak.known, call.key, limits.loopStreaksMax)
  const isNewError = remember(streak.known, `${failure.whole}`, limits.loopStreaksMax)
  streak.recurs = !isNewCall || !isNewError
  Object.assign(streak, { tool, kind: failure.kind, echoed: failure.echoed })
  return streak
}

/** None while every error is new and the last intervention is less than three rounds old. */
function found(streak: FailureStreak, key: string, reason: string): Finding[] {
  const { shown, rounds } = streak
  const climbs = streak.action === 'none' || streak.recurs
  if (!climbs && rounds - streak.roundsAtLast < newErrorsRounds) return []
  streak.roundsAtLast = rounds
  const action = climbs ? climb(streak) : 'nudge'
  return [finding(streak, { action, key, reason, text: textOf(shown) })]
}
