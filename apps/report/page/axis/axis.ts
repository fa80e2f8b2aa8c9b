// The time axis: it is to scale, but for breaks, which are drawn. Pure.
// A folded loop has the width of its duration: its share of a turn is visible at once.
// It is narrower only if the rounds around it would merge, and wider only if it would be
// invisible.
// The time between turns and most of a long wait are left out, with the length shown in
// their place. With very many turns they stay, because the marks would cover them.

import type { ShownTurn } from '../data.ts'
import { foldedMin } from '../list/rows.ts'
import type { Span } from './spans.ts'

/** idle: between two turns. long: within one span that has nearly all of the time. */
export type FoldKind = 'loop' | 'idle' | 'long'

/** `turn`: its place. `loop`: its place among the loops of that turn; -1: not a loop. */
export type Fold = { kind: FoldKind; from: number; to: number; turn: number; loop: number }

/** `isToScale`: as wide as plain time of the same length. */
export type Piece = {
  from: number
  to: number
  x: number
  width: number
  fold: Fold | null
  isToScale: boolean
}

/** `rounds`: the number of rounds that are not folded. */
export type Room = { width: number; rounds: number }

const gapPixels = 46
const gapsShareMax = 0.35
/** Nearly the width of the mark of a gap. */
const markedPixelsMin = 6
/** The least width of a loop that a user can see and click. */
const loopPixelsMin = 36
const loopsShareMin = 0.3
/**
 * The least width of a round that differs visibly from its neighbours. All rounds together get at
 * most this share for it.
 */
const roundPixelsMin = 26
const plainShareMin = 0.4

/** In order, without gaps. `from`, `to`: the limits of the whole axis. */
export function piecesOf(
  from: number,
  to: number,
  folds: Fold[],
  { width, rounds }: Room,
): Piece[] {
  const end = Math.max(to, from + 1)
  const known = withoutOverlap(folds, from, end)
  const loops = known.filter(({ kind }) => kind === 'loop')
  const gaps = known.length - loops.length
  const plainMs = end - from - sumOf(known.map(lengthOf))
  const isAllGap = plainMs === 0 && loops.length === 0
  const gapWidth = isAllGap
    ? width / Math.max(1, gaps)
    : Math.min(gapPixels, (gapsShareMax * width) / Math.max(1, gaps))
  const room = width - gaps * gapWidth
  const loopWidths = widthsOf(loops.map(lengthOf), plainMs, { width: room, rounds })
  const perMs = plainMs === 0 ? 0 : (room - sumOf(loopWidths)) / plainMs
  const pieces: Piece[] = []
  const widths = loopWidths.values()
  let at = from
  let x = 0
  const add = (until: number, fold: Fold | null, pieceWidth: number) => {
    const isToScale =
      fold === null || (fold.kind === 'loop' && isNear(pieceWidth, (until - at) * perMs, plainMs))
    pieces.push({ from: at, to: until, x, width: pieceWidth, fold, isToScale })
    x += pieceWidth
    at = until
  }
  for (const fold of known) {
    if (fold.from > at) add(fold.from, null, (fold.from - at) * perMs)
    add(fold.to, fold, fold.kind === 'loop' ? (widths.next().value ?? 0) : gapWidth)
  }
  if (end > at) add(end, null, (end - at) * perMs)
  return pieces
}

function widthsOf(loopsMs: number[], plainMs: number, { width, rounds }: Room): number[] {
  const allMs = plainMs + sumOf(loopsMs)
  const min = Math.min(loopPixelsMin, (loopsShareMin * width) / Math.max(1, loopsMs.length))
  const isSmall = (ms: number) => (ms * width) / Math.max(1, allMs) < min
  const smallMs = loopsMs.filter(isSmall)
  const perMs = (width - smallMs.length * min) / Math.max(1, allMs - sumOf(smallMs))
  const ideal = loopsMs.map((ms) => (isSmall(ms) ? min : ms * perMs))
  const plainMin =
    plainMs === 0 ? 0 : Math.min(plainShareMin * width, roundPixelsMin * Math.max(1, rounds))
  const most = width - plainMin
  const isTooMuch = sumOf(ideal) > most || plainMs === 0
  return isTooMuch ? ideal.map((one) => (one * most) / sumOf(ideal)) : ideal
}

/**
 * A difference of a tenth is invisible. Without plain time there is nothing to compare with.
 */
function isNear(width: number, expected: number, plainMs: number): boolean {
  return plainMs === 0 || Math.abs(width - expected) <= 0.1 * expected
}

function lengthOf({ from, to }: { from: number; to: number }): number {
  return to - from
}

function sumOf(values: number[]): number {
  return values.reduce((sum, value) => sum + value, 0)
}

function withoutOverlap(folds: Fold[], from: number, to: number): Fold[] {
  const kept: Fold[] = []
  let end = from
  for (const fold of folds.toSorted((a, b) => a.from - b.from)) {
    const clipped = { ...fold, from: Math.max(fold.from, end), to: Math.min(fold.to, to) }
    if (clipped.to <= clipped.from || (fold.kind === 'long' && lengthOf(clipped) < longMsMin))
      continue
    kept.push(clipped)
    end = clipped.to
  }
  return kept
}

/**
 * The place of the first piece that ends at or after a time. Uses binary search, because it runs
 * for each span.
 */
export function placeOf(pieces: readonly Piece[], time: number): number {
  let low = 0
  let high = pieces.length
  while (low < high) {
    const middle = (low + high) >> 1
    if ((pieces[middle] as Piece).to < time) low = middle + 1
    else high = middle
  }
  return low
}

/** The x position of a time. */
export function xOf(pieces: readonly Piece[], time: number): number {
  const piece = pieces[placeOf(pieces, time)] ?? pieces.at(-1)
  if (piece === undefined) return 0
  const share = (time - piece.from) / Math.max(1, piece.to - piece.from)
  return piece.x + piece.width * Math.min(1, Math.max(0, share))
}

/**
 * True: the piece has a fold, with room for its mark. A folded loop and a fold inside a turn are
 * always marked.
 */
export function isMarked(piece: Piece): piece is Piece & { fold: Fold } {
  return piece.fold !== null && (piece.fold.kind !== 'idle' || piece.width >= markedPixelsMin)
}

/** True: the whole span is in a folded loop. A span of length 0 may be at its edge. */
export function isFolded(
  pieces: readonly Piece[],
  { from, to }: { from: number; to: number },
): boolean {
  const place = placeOf(pieces, to)
  return pieces
    .slice(place, place + 2)
    .some(({ fold }) => fold?.kind === 'loop' && from >= fold.from && to <= fold.to)
}

/** The time at an x position. */
export function timeAt(pieces: Piece[], x: number): number {
  const piece = pieces.find((one) => x <= one.x + one.width) ?? pieces.at(-1)
  if (piece === undefined) return 0
  return (
    piece.from +
    (piece.to - piece.from) * Math.min(1, Math.max(0, (x - piece.x) / Math.max(1e-9, piece.width)))
  )
}

// ── Folds ──

const idleMsMin = 1_000
/**
 * A longer span with this share of the axis is shortened. Otherwise nothing else would be visible.
 */
const longMsMin = 30_000
const longShareMin = { waits: 0.3, model: 0.6, tools: 0.6, checks: 1, guards: 1 } as const

/** `isOpen`: true for an unfolded loop, by turn and place. `ends`: the end of each turn. */
export function foldsOf(
  turns: ShownTurn[],
  ends: number[],
  spans: Span[][],
  isOpen: (turn: number, loop: number) => boolean,
): Fold[] {
  const folds: Fold[] = []
  for (const [turn, { loops, rounds, startedAt, messageAt }] of turns.entries()) {
    for (const [loop, { from, to }] of loops.entries()) {
      const first = rounds.find(({ round }) => round === from)?.askedAt
      const last = rounds.find(({ round }) => round === to)?.endedAt
      if (first == null || last == null || to - from + 1 < foldedMin || isOpen(turn, loop)) continue
      folds.push({ kind: 'loop', from: first, to: last, turn, loop })
    }
    const before = ends[turn - 1]
    const begins = Math.min(startedAt, messageAt ?? startedAt)
    if (before !== undefined && begins - before > idleMsMin)
      folds.push({ kind: 'idle', from: before, to: begins, turn, loop: -1 })
  }
  const busyMs = sumOf(
    turns.map(({ startedAt }, turn) => Math.max(0, (ends[turn] ?? startedAt) - startedAt)),
  )
  for (const [turn, own] of spans.entries())
    for (const { lane, from, to } of own)
      if (to - from > Math.max(longMsMin, longShareMin[lane] * busyMs))
        folds.push({ kind: 'long', from, to, turn, loop: -1 })
  return folds
}
