// The calls of a turn that wait for something that runs, or for a time. Pure. The loop-detector does
// not count them as repetitions, and its functions recognise them here too.

import { evidenceOf, isWaiting } from '../../services/loop-detector/evidence/evidence.ts'
import { noWaits, withWaits } from '../../services/loop-detector/waiting/waits-of-turn.ts'
import type { RoundView } from './round-view.ts'

/** By round, the ordinals of its waits. `rounds`: of a turn, in order. */
export function waitsOf(rounds: readonly RoundView[]): Map<number, Set<number>> {
  const waits = new Map<number, Set<number>>()
  const memory = noWaits()
  for (const { round, checked, calls, executedAt, outcomeAt } of rounds) {
    if (checked === undefined || (executedAt ?? outcomeAt) === undefined) continue
    const results = [...calls.values()].flatMap(({ result }) => result ?? [])
    const evidence = evidenceOf(checked, results, executedAt ?? checked.at)
    const waiting = withWaits(memory, evidence).filter(isWaiting)
    if (waiting.length > 0) waits.set(round, new Set(waiting.map(({ ref }) => ref.ordinal)))
  }
  return waits
}
