// A time axis with folds: what is folded (a loop, a long wait, the time between turns) has a fixed width, everything else has its share of the rest. Pure.

import type { ShownTurn } from './data.ts'
import { foldedMin } from './rows.ts'
import type { Span } from './spans.ts'

export type FoldKind = 'loop' | 'idle' | 'wait'

/** `turn`: which one; `loop`: its place among the loops of that turn. */
export type Fold = { kind: FoldKind; from: number; to: number; turn: number; loop: number }

export type Piece = { from: number; to: number; x: number; width: number; fold: Fold | null }

/** Wanted widths; together folds get this share of all at most. */
const foldWidths: Record<FoldKind, number> = { loop: 96, idle: 14, wait: 40 }
const foldsShareMax = 0.6

/** In order, without gaps. `from`, `to`: of everything that is shown. */
export function piecesOf(from: number, to: number, folds: Fold[], width: number): Piece[] {
  const end = Math.max(to, from + 1)
  const known = withoutOverlap(folds, from, end)
  const foldedMs = known.reduce((sum, fold) => sum + fold.to - fold.from, 0)
  const plainMs = end - from - foldedMs
  const wanted = known.reduce((sum, { kind }) => sum + foldWidths[kind], 0)
  const shrink = plainMs === 0 ? width / Math.max(1, wanted) : Math.min(1, (foldsShareMax * width) / Math.max(1, wanted))
  const perMs = plainMs === 0 ? 0 : (width - wanted * shrink) / plainMs
  const pieces: Piece[] = []
  let at = from
  let x = 0
  const add = (until: number, fold: Fold | null, pieceWidth: number) => {
    pieces.push({ from: at, to: until, x, width: pieceWidth, fold })
    x += pieceWidth
    at = until
  }
  for (const fold of known) {
    if (fold.from > at) add(fold.from, null, (fold.from - at) * perMs)
    add(fold.to, fold, foldWidths[fold.kind] * shrink)
  }
  if (end > at) add(end, null, (end - at) * perMs)
  return pieces
}

function withoutOverlap(folds: Fold[], from: number, to: number): Fold[] {
  const kept: Fold[] = []
  let end = from
  for (const fold of folds.toSorted((a, b) => a.from - b.from)) {
    const clipped = { ...fold, from: Math.max(fold.from, end), to: Math.min(fold.to, to) }
    if (clipped.to <= clipped.from) continue
    kept.push(clipped)
    end = clipped.to
  }
  return kept
}

/** Where a time is. */
export function xOf(pieces: Piece[], time: number): number {
  const piece = pieces.find(({ to }) => time <= to) ?? pieces.at(-1)
  if (piece === undefined) return 0
  const share = (time - piece.from) / Math.max(1, piece.to - piece.from)
  return piece.x + piece.width * Math.min(1, Math.max(0, share))
}

/** What time is at a place. */
export function timeAt(pieces: Piece[], x: number): number {
  const piece = pieces.find((one) => x <= one.x + one.width) ?? pieces.at(-1)
  if (piece === undefined) return 0
  return piece.from + (piece.to - piece.from) * Math.min(1, Math.max(0, (x - piece.x) / Math.max(1e-9, piece.width)))
}

// ── What is folded ──

/** Longer than this, and a large part of all that is shown: then nothing else could be seen. */
const waitMsMin = 30_000
const waitShareMin = 0.3
const idleMsMin = 1_000

/** `isOpen`: whether a loop, by turn and place, is unfolded. `ends`: when each turn ended. */
export function foldsOf(turns: ShownTurn[], ends: number[], spans: Span[][], isOpen: (turn: number, loop: number) => boolean): Fold[] {
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
    if (before !== undefined && begins - before > idleMsMin) folds.push({ kind: 'idle', from: before, to: begins, turn, loop: -1 })
  }
  const shownMs = (ends.at(-1) ?? 0) - (turns[0]?.startedAt ?? 0)
  for (const [turn, own] of spans.entries())
    for (const { lane, from, to } of own)
      if (lane === 'waits' && to - from > Math.max(waitMsMin, waitShareMin * shownMs))
        folds.push({ kind: 'wait', from, to, turn, loop: -1 })
  return folds
}

// ── Its marks ──

const steps = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1e3, 2e3, 5e3, 1e4, 15e3, 3e4, 6e4, 12e4, 3e5, 6e5, 18e5, 36e5, 72e5, 216e5, 864e5]

/** Times, since the beginning, at which the axis has a mark; not in folds. Marks are this far apart at least. */
export function marksOf(pieces: Piece[], apart: number): { x: number; text: string }[] {
  const begin = pieces[0]?.from ?? 0
  const plain = pieces.filter(({ fold }) => fold === null)
  const perMs = Math.max(...plain.map(({ from, to, width }) => width / Math.max(1, to - from)), 0)
  const step = steps.find((one) => one * perMs >= apart) ?? (steps.at(-1) as number)
  const marks: { x: number; text: string }[] = []
  for (const { from, to } of plain)
    for (let ms = Math.ceil((from - begin) / step) * step; ms <= to - begin; ms += step) {
      const x = xOf(pieces, begin + ms)
      const last = marks.at(-1)
      if (last === undefined || x - last.x >= apart * 0.8) marks.push({ x, text: markText(ms, step) })
    }
  return marks
}

/** As exact as the step, so that no two marks read alike. */
function markText(ms: number, step: number): string {
  if (ms === 0) return '0'
  if (step < 100) return `${ms} ms`
  if (step < 1000) return `${(ms / 1000).toFixed(1)} s`
  const [hours, minutes, seconds] = [Math.floor(ms / 36e5), Math.floor(ms / 6e4) % 60, Math.floor(ms / 1000) % 60]
  const parts = [hours > 0 && `${hours} h`, minutes > 0 && `${minutes} min`, (seconds > 0 || ms < 6e4) && `${seconds} s`]
  return parts.filter((part) => part !== false).join(' ')
}
