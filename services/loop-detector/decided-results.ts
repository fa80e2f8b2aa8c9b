// Results of calls that the detector does not let run, or that have no reported result. The texts
// are for the model.

import {
  noResultInTime,
  resultWith,
  skippedCall,
  type WhyNotRun,
} from '../../shared/contract/call/call-endings.ts'
import type { Call, CallResult, Denial } from '../../shared/contract/messages.ts'
import { callsBeyond, textOnlyResponse } from '../../shared/model-texts/endings.ts'

/** Skips every call of a round. */
export function allSkipped(calls: Call[], why: WhyNotRun): CallResult[] {
  return calls.map(({ ordinal }) => resultWith(ordinal, skippedCall(why)))
}

/**
 * Results of the calls that must not run, by ordinal: calls beyond `callsLeft`, and calls that the
 * validator denied.
 */
export function decidedOf(calls: Call[], denials: Denial[], callsLeft: number): CallResult[] {
  if (denials.length === 0 && calls.length <= callsLeft) return []
  const denied = new Map(denials.map((denial) => [denial.ordinal, denial]))
  const ordered = calls.toSorted((a, b) => a.ordinal - b.ordinal)
  return ordered.flatMap(({ ordinal }, place) => {
    if (place >= callsLeft) return [overBudget(ordinal, callsLeft)]
    const denial = denied.get(ordinal)
    if (denial === undefined) return []
    const { text, reason } = denial
    return [resultWith(ordinal, { status: 'denied', text, reason })]
  })
}

/**
 * One result for each call, by ordinal. The first list has priority. A call without a result may
 * have run.
 */
export function completed(calls: Call[], ...known: CallResult[][]): CallResult[] {
  const [call] = calls
  const [result] = known[0] ?? []
  // Nearly always one call ran.
  if (calls.length === 1 && call?.ordinal === result?.ordinal && result !== undefined)
    return [result]
  const results = new Map(
    known
      .flat()
      .reverse()
      .map((result) => [result.ordinal, result]),
  )
  return calls
    .toSorted((a, b) => a.ordinal - b.ordinal)
    .map(({ ordinal }) => results.get(ordinal) ?? resultWith(ordinal, noResultInTime))
}

function overBudget(ordinal: number, callsLeft: number): CallResult {
  const [text, reason] =
    callsLeft <= 0
      ? [textOnlyResponse, 'no tool can be called in this response']
      : [callsBeyond(callsLeft), 'over the limit of tool calls']
  return resultWith(ordinal, { status: 'skipped', text, reason })
}
