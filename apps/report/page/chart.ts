// The time axis: rounds and spans over time, in lanes.

import { elapsed } from '../../terminal/text/quantities.ts'
import { foldsOf, isFolded, isMarked, type Piece, piecesOf, timeAt, xOf } from './axis.ts'
import { barsOf, laneNames } from './chart-bars.ts'
import { foldNode } from './chart-folds.ts'
import { height, middleOf, textsHeight, top } from './chart-layout.ts'
import { roundCells } from './chart-rounds.ts'
import type { ReportData, ShownRound, ShownTurn } from './data.ts'
import { type Child, element, fill, graphic } from './element.ts'
import { lanes, type Span, spansOf } from './spans.ts'
import { ticksOf } from './ticks.ts'

export type Chart = {
  node: HTMLElement
  /** `width`: in pixels, for paper. Without it, the axis fills the available width. */
  draw(width?: number): void
  /** Marks the current round. Undefined: none. */
  point(turn: number, round: number | undefined): void
}

export type ChartOptions = {
  isOpen: (turn: number, loop: number) => boolean
  onRound: (turn: number, round: number) => void
  onLoop: (turn: number, loop: number) => void
}

export function chart(
  { timeline: { turns } }: ReportData,
  { isOpen, onRound, onLoop }: ChartOptions,
): Chart {
  const ends = turns.map(({ until }) => until)
  const begins = turns.map(({ startedAt }) => startedAt)
  const spans = turns.map((turn, index) => spansOf(turn, ends[index] ?? 0))
  const from = Math.min(
    ...spans.flatMap((own) => own.slice(0, 1).map((span) => span.from)),
    begins[0] ?? 0,
  )
  const to = ends.reduce((latest, end) => Math.max(latest, end), from)
  const drawing = graphic('svg', {
    class: 'lanes',
    role: 'img',
    height,
    'aria-label': described(turns, to - from),
  })
  const pointer = graphic('rect', { class: 'pointer', y: top - 2, height: height - top })
  const node = element(
    'section',
    { class: 'chart', 'aria-label': 'Time' },
    laneNames(lanes),
    element('div', { class: 'canvas' }, drawing),
  )
  let pieces: Piece[] = []
  let pointed: { turn: number; round: number } | undefined

  function draw(given?: number): void {
    const width = given ?? Math.max(120, drawing.parentElement?.clientWidth ?? 0)
    const folds = foldsOf(turns, ends, spans, isOpen)
    const folded = new Set(folds.map((fold) => `${fold.turn}/${fold.loop}`))
    const placed = turns.flatMap((turn, index) =>
      unfolded(turn, index, folded).map((round) => ({
        turn: turn.number,
        round,
        until: ends[index] ?? to,
      })),
    )
    pieces = piecesOf(from, to, folds, { width, rounds: placed.length })
    drawing.setAttribute('width', String(width))
    drawing.setAttribute('viewBox', `0 0 ${width} ${height}`)
    const folding = pieces.flatMap((piece) =>
      isMarked(piece) ? [foldNode(piece, piece.fold, turns[piece.fold.turn])] : [],
    )
    fill(
      drawing,
      openLoops(turns, pieces, folded, to),
      ticks(pieces, begins, width),
      lanes.map(rail),
      roundCells(placed, pieces),
      bars(spans.flat(), pieces),
      folding,
      pointer,
    )
    place()
  }

  function place(): void {
    const round = pointed && turns[pointed.turn]?.rounds[pointed.round]
    const begin = round?.askedAt
    pointer.classList.toggle('unseen', begin == null)
    if (begin == null || round === undefined) return
    const x = xOf(pieces, begin)
    pointer.setAttribute('x', String(x - 1))
    pointer.setAttribute('width', String(Math.max(3, xOf(pieces, round.endedAt ?? to) - x + 2)))
  }

  drawing.addEventListener('click', (event) => {
    const x = event.clientX - drawing.getBoundingClientRect().left
    const fold = pieces.find((piece) => x >= piece.x && x <= piece.x + piece.width)?.fold
    if (fold?.kind === 'loop') return onLoop(fold.turn, fold.loop)
    const found = roundAt(turns, timeAt(pieces, x))
    if (found !== undefined) onRound(found.turn, found.round)
  })

  return {
    node,
    draw,
    point(turn, round) {
      pointed = round === undefined ? undefined : { turn, round }
      place()
    },
  }
}

/** `turn/loop` of the loops that the axis folds. */
type Folded = ReadonlySet<string>

function unfolded({ rounds, loops }: ShownTurn, turn: number, folded: Folded): ShownRound[] {
  const unseen = loops.filter((_, loop) => folded.has(`${turn}/${loop}`))
  return unseen.length === 0
    ? rounds
    : rounds.filter(({ round }) => !unseen.some(({ from, to }) => round >= from && round <= to))
}

function ticks(pieces: Piece[], begins: number[], width: number): Child[] {
  return ticksOf(pieces, begins, width).map(({ kind, x, at, text }) => [
    kind !== 'gap' &&
      graphic('line', {
        class: `tick ${kind}`,
        x1: x,
        x2: x,
        y1: kind === 'begin' ? 0 : top - 6,
        y2: height,
      }),
    graphic('text', { class: `tick-text ${kind}`, x: at, y: textsHeight - 7 }, text),
  ])
}

function rail(_: string, index: number): Child {
  return graphic('line', {
    class: 'rail',
    x1: 0,
    x2: '100%',
    y1: middleOf(index),
    y2: middleOf(index),
  })
}

function bars(spans: Span[], pieces: Piece[]): Child[] {
  const shown = spans.filter((span) => !isFolded(pieces, span))
  return lanes.map((lane, index) =>
    barsOf(
      shown.filter((span) => span.lane === lane),
      pieces,
      middleOf(index),
    ),
  )
}

/** Behind everything: the areas of unfolded loops. */
function openLoops(turns: ShownTurn[], pieces: Piece[], folded: Folded, to: number): Child[] {
  return turns.flatMap(({ loops, rounds }, turn) =>
    loops.map((loop, index) => {
      const first = rounds.find(({ round }) => round === loop.from)?.askedAt
      if (first == null || folded.has(`${turn}/${index}`)) return null
      const x = xOf(pieces, first)
      const end = xOf(pieces, rounds.find(({ round }) => round === loop.to)?.endedAt ?? to)
      return graphic('rect', {
        class: 'open-loop',
        x,
        y: top - 2,
        width: Math.max(1, end - x),
        height: height - top,
      })
    }),
  )
}

function described(turns: ShownTurn[], ms: number): string {
  const rounds = turns.reduce((sum, turn) => sum + turn.rounds.length, 0)
  const loops = turns.flatMap((turn) =>
    turn.loops.map(({ from, to }) => `rounds ${from} to ${to} are a loop`),
  )
  return `Durations over ${elapsed(ms)} and ${rounds} rounds${loops.length === 0 ? '' : `; ${loops.slice(0, 5).join(', ')}`}. The list below has the same as text.`
}

/** The newest round that had begun at this time. */
function roundAt(turns: ShownTurn[], time: number): { turn: number; round: number } | undefined {
  let found: { turn: number; round: number } | undefined
  for (const [turn, { rounds }] of turns.entries())
    for (const [round, { askedAt }] of rounds.entries())
      if (askedAt !== null && (askedAt <= time || found === undefined)) found = { turn, round }
  return found
}
