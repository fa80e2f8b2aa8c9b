// The path of a history: the turns that a message follows. A message may follow an earlier turn than
// the newest one. The turns between stay in the log, and leave the history of that message and of
// those after it.
// It depends on the entries alone, so each reader finds the same path. A turn that
// does not exist is a place between turns.

import type { HistoryPlace } from '../performer.ts'

/** The part of an entry that makes the path. `afterTurn`: of round 0. Null: the newest turn. */
export type PathEntry = HistoryPlace & { afterTurn: number | null }

/** The entries on the path that ends with this turn, in their order. */
export function onPath<Entry extends PathEntry>(entries: readonly Entry[], last: number): Entry[] {
  const before = new Map<number, number>()
  for (const { turn, afterTurn } of entries)
    before.set(turn, Math.min(before.get(turn) ?? turn - 1, afterTurn ?? turn - 1))
  if (entries.every(({ turn, afterTurn }) => turn <= last && afterTurn === null))
    return [...entries]
  const kept = new Set<number>()
  let next = last
  for (const turn of [...before.keys()].sort((a, b) => b - a)) {
    if (turn > next) continue
    kept.add(turn)
    next = before.get(turn) ?? next
  }
  return entries.filter(({ turn }) => kept.has(turn))
}

/** Whether the path of these entries leaves out the turn of this place: a later message jumps over it. */
export function leavesOut(entries: readonly PathEntry[], place: HistoryPlace): boolean {
  return entries.some(
    ({ turn, afterTurn }) => turn > place.turn && afterTurn !== null && afterTurn < place.turn,
  )
}
