// Calls that wait after a call which a person decides. None of them may change the program that
// the person saw. Part of the reducer.
// Some calls hold the others of their response: one that a person may decide, or
// allowed, until it has its result. Rules of its tool may allow the others to run.
// A held call is a waiting one: a cancel or the end of the turn skips it (R5).

import {
  allowedCode,
  noRuleCode,
  withdrawnCode,
} from '../../../shared/contract/guard/approval-guard.ts'
import type { GuardVerdict, Policy } from '../../../shared/contract/messages.ts'
import type { Milliseconds } from '../../../shared/lib/clock.ts'
import { type Round, release, type Turn } from '../turn.ts'
import { isAsked } from './approval-asking.ts'
import { rulesForTool } from './rules-of-round.ts'

/** For a new round: notes its calls after which the others wait. */
export function findHolders(round: Round): void {
  if (!round.policy.bindsPrograms) return
  round.holders = round.calls
    .filter((open) => isAsked(open) && holdsOthers(round.policy, open.call.name))
    .map(({ call }) => call.ordinal)
}

/**
 * The approval guard has answered: only the calls that a person allowed still hold others. A call
 * that no rule names may run for any program.
 */
export function keepAllowed(round: Round, { verdicts }: GuardVerdict): void {
  round.holders = round.holders.filter((ordinal) =>
    verdicts.some((verdict) => verdict.ordinal === ordinal && verdict.code === allowedCode),
  )
  for (const { ordinal, code } of verdicts)
    for (const open of round.calls) {
      if (open.call.ordinal !== ordinal) continue
      if (code === noRuleCode) delete open.program
      if (code === allowedCode) open.isAllowed = true
      if (code !== noRuleCode && code !== withdrawnCode) open.isDecided = true
    }
}

/**
 * Makes the calls ready that wait for nothing more, or offers them to their guest. Nothing becomes
 * ready in an expired round.
 */
export function releaseCalls(turn: Turn, round: Round, time: Milliseconds): void {
  round.holders = round.holders.filter((ordinal) =>
    round.calls.some(({ call, phase }) => call.ordinal === ordinal && phase.kind !== 'done'),
  )
  if (time >= round.expiresAt) return
  for (const open of round.calls) {
    const { call, phase } = open
    if (phase.kind !== 'waiting' || phase.guards.length > 0) continue
    if (round.holders.length > 0 && !round.holders.includes(call.ordinal)) continue
    release(turn, open, phase, time)
  }
}

/** In doubt it holds them. */
function holdsOthers(policy: Policy, tool: string): boolean {
  const ofTool = rulesForTool(policy, tool)
  return ofTool.length === 0 || ofTool.some(({ others }) => others !== 'run')
}
