// The rows of the list: turns, their rounds, and loops that are folded into one row. Pure.

import type { Loop, ReportData, ShownRound, ShownTurn } from '../data.ts'

/**
 * `turn`, `round`, `loop`: places in the data. `loop` of a round: its unfolded loop; -1: none.
 */
export type Row =
  | { kind: 'turn'; turn: number }
  | { kind: 'loop'; turn: number; loop: number; isOpen: boolean }
  | { kind: 'round'; turn: number; round: number; loop: number }

/** Shorter runs are never folded. */
export const foldedMin = 3

export type Wanted = {
  isOpen: (turn: number, loop: number) => boolean
  /** Undefined: every round. Otherwise nothing is folded, because a match may be anywhere. */
  matches?: ((round: ShownRound, turn: ShownTurn) => boolean) | undefined
}

export function rowsOf(
  { timeline: { turns } }: Pick<ReportData, 'timeline'>,
  { isOpen, matches }: Wanted,
): Row[] {
  return turns.flatMap((turn, place) => {
    const rows =
      matches === undefined ? foldedRows(turn, place, isOpen) : matchingRows(turn, place, matches)
    return matches !== undefined && rows.length === 0
      ? []
      : [{ kind: 'turn', turn: place } as const, ...rows]
  })
}

function matchingRows(
  turn: ShownTurn,
  place: number,
  matches: NonNullable<Wanted['matches']>,
): Row[] {
  return turn.rounds.flatMap((round, index): Row[] =>
    matches(round, turn)
      ? [{ kind: 'round', turn: place, round: index, loop: loopAt(turn, round) }]
      : [],
  )
}

function foldedRows(turn: ShownTurn, place: number, isOpen: Wanted['isOpen']): Row[] {
  const rows: Row[] = []
  for (const [index, round] of turn.rounds.entries()) {
    const loop = loopAt(turn, round)
    const found = turn.loops[loop]
    const row: Row = { kind: 'round', turn: place, round: index, loop }
    if (found === undefined || lengthOf(found) < foldedMin) {
      rows.push(row)
      continue
    }
    if (round.round === found.from)
      rows.push({ kind: 'loop', turn: place, loop, isOpen: isOpen(place, loop) })
    if (isOpen(place, loop)) rows.push(row)
  }
  return rows
}

export function lengthOf({ from, to }: Loop): number {
  return to - from + 1
}

/**
 * Loops are in order and do not overlap. So only the first one that ends at or after a round can
 * contain it.
 */
function loopAt({ loops }: ShownTurn, { round }: ShownRound): number {
  let low = 0
  let high = loops.length
  while (low < high) {
    const middle = (low + high) >> 1
    if ((loops[middle]?.to ?? 0) < round) low = middle + 1
    else high = middle
  }
  const found = loops[low]
  return found !== undefined && found.from <= round ? low : -1
}
