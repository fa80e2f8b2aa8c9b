// The timeline of one call: the model's arguments, the verdict, each try, and the one result. Pure.

import type { Call, CallResult } from '../contract/messages.ts'
import type { Milliseconds } from '../lib/clock.ts'
import { type CallView, type RoundView, resultOf, type TryView } from './round-view.ts'
import type { CallTimeline, TryTimeline, Verdict } from './timeline.ts'

/** `view` undefined: only the response shows it. */
export function callOf(
  { ordinal, id, name, raw, source, problem, repair, disputed }: Call,
  view: CallView | undefined,
  ofRound: RoundView,
): CallTimeline {
  return {
    ordinal,
    id,
    name,
    rawArguments: raw,
    source,
    problem,
    repair,
    disputed,
    verdict: verdictOf(ordinal, ofRound),
    tries: view?.tries.flatMap((one) => tryOf(one, view.finished?.at) ?? []) ?? [],
    result: shownResult(resultOf(ofRound, ordinal)),
  }
}

function verdictOf(ordinal: number, { stage }: RoundView): Verdict {
  const isOfCall = (other: { ordinal: number }) => other.ordinal === ordinal
  const { 'round-checked': checked, 'round-cleared': cleared, 'round-outcome': outcome } = stage
  const denial = checked?.message.denials.find(isOfCall)
  if (denial !== undefined && checked !== undefined) {
    const { code, reason, text } = denial
    return { kind: 'deny', at: checked.time, code, reason, text }
  }
  const decided = cleared?.message.decided.find(isOfCall)
  if (cleared !== undefined && decided === undefined) return { kind: 'allow', at: cleared.time }
  if (cleared !== undefined && decided !== undefined)
    return { kind: 'skipped', at: cleared.time, reason: decided.reason }
  if (outcome === undefined) return { kind: 'pending' }
  const { reason = '' } = outcome.message.results.find(isOfCall) ?? {}
  return { kind: 'skipped', at: outcome.time, reason }
}

function shownResult(result: CallResult | undefined): CallTimeline['result'] {
  if (result === undefined) return null
  const { status, text, reason, durationMs } = result
  return { status, text, reason, durationMs }
}

/** Undefined: no record shows its claim. */
function tryOf(
  { try: number, claim, startedAt, outcomes, lapses }: TryView,
  finishedAt: Milliseconds | undefined,
): TryTimeline | undefined {
  if (claim === undefined) return undefined
  const { owner, at: claimedAt } = claim
  const outcome = outcomes.find((one) => one.owner === owner)
  const lapsedAt = lapses.find((one) => one.owner === owner)?.at
  const isLate =
    outcome !== undefined &&
    ((finishedAt !== undefined && finishedAt < outcome.at) ||
      (lapsedAt !== undefined && lapsedAt <= outcome.at))
  const silent = lapsedAt === undefined ? 'open' : 'lapsed'
  const end = outcome === undefined ? silent : endOf(outcome.result, isLate)
  return {
    try: number,
    claimedAt,
    owner,
    startedAt: startedAt ?? null,
    endedAt: (end === 'lapsed' ? lapsedAt : outcome?.at) ?? null,
    end,
    status: outcome?.result?.status ?? null,
  }
}

function endOf(result: object | null, isLate: boolean): TryTimeline['end'] {
  if (isLate) return 'late'
  return result === null ? 'given-back' : 'result'
}
