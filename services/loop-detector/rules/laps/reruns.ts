// Laps that start a thing again which fails again: a pipeline, a build. Each run has another id, and the
// agent waits for its end in any number of rounds.
//
// Rounds are compared without the ids of runs that the same lap started. Rounds that only
// wait are no part of a lap. A lap has a call that acts, and a result that states a failure.
// Nothing is compared before a call that acts has returned an id.

import { limits } from '../../../../shared/contract/limits.ts'
import type { EvidenceRef, LoopThresholds } from '../../../../shared/contract/messages.ts'
import { touch } from '../../../../shared/lib/recency.ts'
import type { ShownCall } from '../../../../shared/model-texts/interventions.ts'
import type { CallEvidence } from '../../evidence/call-evidence.ts'
import { isWaiting } from '../../evidence/evidence.ts'
import { fingerprint } from '../../evidence/fingerprint.ts'
import { masked } from '../../evidence/mask.ts'
import { runIdsIn, tellsFailure, withoutRunIds } from '../../meaning/run-ids.ts'
import { sameRoundsMax, transientRoundsMax } from '../../patience.ts'

/** The rounds of the longest lap. */
export const lapMax = 12

/** `oldest`: the round of the oldest id that its calls sent. */
export type RerunRound = {
  print: string
  oldest: number
  acts: boolean
  failed: boolean
  transient: boolean
  shown: ShownCall
  ref: EvidenceRef
}

/** `ids`: with the count of rounds at the first time. `repeats`: as in cycle. */
export type Reruns = {
  ids: Map<string, number>
  rounds: RerunRound[]
  repeats: number[]
  count: number
}

export function noReruns(): Reruns {
  return { ids: new Map(), rounds: [], repeats: [], count: 0 }
}

/** The newest lap of a thing that failed too often, and its laps. Adds the round to the memory. */
export function rerunWith(
  memory: Reruns,
  calls: CallEvidence[],
  loop: LoopThresholds,
): { lap: RerunRound[]; laps: number } | undefined {
  const { ids, rounds, repeats } = memory
  if (calls.every(isWaiting)) return undefined
  const count = ++memory.count
  for (const [id, round] of ids) {
    if (round > count - 2 * lapMax) break
    ids.delete(id)
  }
  for (const { effect, text } of calls)
    if (effect === 'changes' || effect === 'opaque')
      for (const id of runIdsIn(text)) if (!ids.has(id)) touch(ids, id, count, limits.loopIdsMax)
  if (ids.size === 0) {
    if (rounds.length > 0) Object.assign(memory, { rounds: [], repeats: [] })
    return undefined
  }
  const round = roundOf(calls, ids)
  if (round === undefined) return undefined
  for (let period = 1; period <= lapMax; period++) {
    const before = rounds[rounds.length - period]
    const isSame =
      before?.print === round.print &&
      round.oldest > count - period &&
      before.oldest > count - 2 * period
    repeats[period] = isSame ? (repeats[period] ?? 0) + 1 : 0
  }
  rounds.push(round)
  if (rounds.length > lapMax) rounds.shift()
  for (let period = 2; period <= lapMax; period++) {
    const laps = Math.floor((repeats[period] ?? 0) / period) + 1
    const isOneRound = (repeats[1] ?? 0) >= period - 1
    if (isOneRound || laps < sameRoundsMax(loop)) continue
    const lap = rounds.slice(-period)
    if (!lap.some(({ acts }) => acts) || !lap.some(({ failed }) => failed)) continue
    if (lap.some(({ transient }) => transient) && laps < transientRoundsMax(loop)) continue
    return { lap, laps }
  }
  return undefined
}

function roundOf(calls: CallEvidence[], ids: Reruns['ids']): RerunRound | undefined {
  const [first] = calls
  if (first === undefined) return undefined
  let oldest = Number.POSITIVE_INFINITY
  const prints = calls.map(({ tool, raw, text, failure }) => {
    const sent = withoutRunIds(raw, ids)
    oldest = Math.min(oldest, sent.oldest)
    const status = failure === undefined ? 'ok' : 'failed'
    return fingerprint('round', tool, sent.text, status, masked(withoutRunIds(text, ids).text))
  })
  return {
    print: prints.sort().join(),
    oldest,
    acts: calls.some(({ effect }) => effect === 'changes' || effect === 'opaque'),
    failed: calls.some(
      ({ failure, reported, text }) =>
        failure !== undefined || reported !== undefined || tellsFailure(text),
    ),
    transient: calls.some(({ failure, reported }) => (failure ?? reported)?.kind === 'transient'),
    shown: { tool: first.tool, arguments: first.shown.arguments, outcome: first.shown.outcome },
    ref: first.ref,
  }
}
