// The timeline of one call: the model's arguments, the verdict, each try, and the one result. Pure.

import type { Call } from '../contract/messages.ts'
import type { Milliseconds } from '../lib/clock.ts'
import type { CallView, RoundView, TryView } from './round-view.ts'
import type { CallTimeline, TryTimeline, Verdict } from './timeline.ts'

/** `view` undefined: only the response shows it. */
export function callOf(
  { ordinal, id, name, raw, source, problem, repair, disputed }: Call,
  view: CallView | undefined,
  ofRound: RoundView,
): CallTimeline {
  const tries = [...(view?.tries.values() ?? [])].flatMap(
    (one) => tryOf(one, view?.finished?.at) ?? [],
  )
  return {
    ordinal,
    id,
    name,
    raw,
    source,
    problem,
    repair,
    disputed,
    verdict: verdictOf(ordinal, view, ofRound),
    tries,
    result: resultOf(view),
  }
}

function verdictOf(
  ordinal: number,
  view: CallView | undefined,
  { checked, cleared, outcomeAt }: RoundView,
): Verdict {
  const rejection = checked?.rejections.find((other) => other.ordinal === ordinal)
  if (rejection !== undefined && checked !== undefined) {
    const { code, reason, text } = rejection
    return { kind: 'rejected', at: checked.at, code, reason, text }
  }
  if (cleared !== undefined && view?.decided === undefined)
    return { kind: 'cleared', at: cleared.at }
  if (cleared !== undefined && view?.decided !== undefined)
    return { kind: 'not-cleared', at: cleared.at, reason: view.decided.reason }
  if (outcomeAt === undefined) return { kind: 'pending' }
  return { kind: 'not-cleared', at: outcomeAt, reason: view?.result?.reason ?? '' }
}

/** The activity has only the beginning of the text, so it cannot serve here. */
function resultOf(view: CallView | undefined): CallTimeline['result'] {
  if (view?.result === undefined) return null
  const { status, text, reason, durationMs } = view.result
  return { status, text, reason, durationMs }
}

/** Undefined: no record shows its claim. */
function tryOf(
  { try: number, claimedAt, owner, startedAt, outcomes, lapses }: TryView,
  finishedAt: Milliseconds | undefined,
): TryTimeline | undefined {
  if (claimedAt === undefined || owner === undefined) return undefined
  const outcome = outcomes.get(owner)
  const lapsedAt = lapses.get(owner)
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
