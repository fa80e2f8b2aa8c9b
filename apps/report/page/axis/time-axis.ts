// The time axis: rounds and spans over time, in lanes.

import { type Child, fixed, html } from '../../../page/kit/html.ts'
import { elapsed } from '../../../terminal/text/quantities.ts'
import type { ReportData, ShownRound, ShownTurn } from '../data.ts'
import { foldsOf, isFolded, isMarked, type Piece, piecesOf, timeAt, xOf } from './axis.ts'
import { foldView } from './folds.ts'
import { barHeight, height, middleOf, textsHeight, top } from './layout.ts'
import { roundCells } from './round-cells.ts'
import { type Lane, lanes, type Span, spansOf } from './spans.ts'
import { ticksOf } from './ticks.ts'

export type TimeAxis = {
  /** `width`: in pixels; 0: unknown. `pointed`: the current round. */
  view(width: number, pointed: { turn: number; round: number } | undefined): Child
  /** A loop is opened or closed. */
  changed(): void
}

export type TimeAxisOptions = {
  isOpen: (turn: number, loop: number) => boolean
  onRound: (turn: number, round: number) => void
  onLoop: (turn: number, loop: number) => void
}

type Drawn = { width: number; pieces: Piece[]; content: Child }

export function timeAxis(
  { timeline: { turns } }: ReportData,
  { isOpen, onRound, onLoop }: TimeAxisOptions,
): TimeAxis {
  const ends = turns.map(({ until }) => until)
  const begins = turns.map(({ startedAt }) => startedAt)
  const spans = turns.map((turn, index) => spansOf(turn, ends[index] ?? 0))
  const from = Math.min(
    ...spans.flatMap((own) => own.slice(0, 1).map((span) => span.from)),
    begins[0] ?? 0,
  )
  const to = ends.reduce((latest, end) => Math.max(latest, end), from)
  const label = described(turns, to - from)
  const names = html`<div class="lane-names" aria-hidden="true">
    ${['rounds', ...lanes].map((name) => html`<span>${name}</span>`)}
  </div>`
  let drawn: Drawn | undefined

  function draw(width: number): Drawn {
    const folds = foldsOf(turns, ends, spans, isOpen)
    const folded = new Set(folds.map((fold) => `${fold.turn}/${fold.loop}`))
    const placed = turns.flatMap((turn, index) =>
      unfolded(turn, index, folded).map((round) => ({
        turn: turn.number,
        round,
        until: ends[index] ?? to,
      })),
    )
    const pieces = piecesOf(from, to, folds, { width, rounds: placed.length })
    const folding = pieces.flatMap((piece) =>
      isMarked(piece) ? [foldView(piece, piece.fold, turns[piece.fold.turn])] : [],
    )
    const content = fixed(html`<g>
      ${openLoops(turns, pieces, folded, to)} ${ticks(pieces, begins, width)} ${rails}
      ${roundCells(placed, pieces)} ${bars(spans.flat(), pieces)} ${folding}
    </g>`)
    return { width, pieces, content }
  }

  function pointer(pieces: Piece[], round: ShownRound | undefined): Child {
    if (round === undefined || round.askedAt === null) return null
    const x = xOf(pieces, round.askedAt)
    const width = Math.max(3, xOf(pieces, round.endedAt ?? to) - x + 2)
    return html`<rect class="pointer" x=${x - 1} y=${top - 2} width=${width} height=${height - top} />`
  }

  function clicked(event: MouseEvent): void {
    const { pieces = [] } = drawn ?? {}
    const x = event.clientX - (event.currentTarget as Element).getBoundingClientRect().left
    const fold = pieces.find((piece) => x >= piece.x && x <= piece.x + piece.width)?.fold
    if (fold?.kind === 'loop') return onLoop(fold.turn, fold.loop)
    const found = roundAt(turns, timeAt(pieces, x))
    if (found !== undefined) onRound(found.turn, found.round)
  }

  return {
    changed() {
      drawn = undefined
    },
    view(width, pointed) {
      if (width > 0 && drawn?.width !== width) drawn = draw(width)
      const round = pointed && turns[pointed.turn]?.rounds[pointed.round]
      return html`<section class="chart" aria-label="Time">
        ${names}
        <div class="canvas">
          <svg
            class="lanes" role="img" aria-label=${label} height=${height} width=${drawn?.width}
            viewBox=${drawn && `0 0 ${drawn.width} ${height}`} onClick=${clicked}
          >
            ${drawn?.content} ${drawn && pointer(drawn.pieces, round)}
          </svg>
        </div>
      </section>`
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
  return ticksOf(pieces, begins, width).map(({ kind, x, at, text }) => {
    const from = kind === 'begin' ? 0 : top - 6
    return html`
      ${kind !== 'gap' && html`<line class=${`tick ${kind}`} x1=${x} x2=${x} y1=${from} y2=${height} />`}
      <text class=${`tick-text ${kind}`} x=${at} y=${textsHeight - 7}>${text}</text>`
  })
}

const rails = lanes.map((_, index) => {
  const y = middleOf(index)
  return html`<line class="rail" x1="0" x2="100%" y1=${y} y2=${y} />`
})

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

/** Below everything: the areas of unfolded loops. */
function openLoops(turns: ShownTurn[], pieces: Piece[], folded: Folded, to: number): Child[] {
  return turns.flatMap(({ loops, rounds }, turn) =>
    loops.map((loop, index) => {
      const first = rounds.find(({ round }) => round === loop.from)?.askedAt
      if (first == null || folded.has(`${turn}/${index}`)) return null
      const x = xOf(pieces, first)
      const end = xOf(pieces, rounds.find(({ round }) => round === loop.to)?.endedAt ?? to)
      const width = Math.max(1, end - x)
      return html`<rect class="open-loop" x=${x} y=${top - 2} width=${width} height=${height - top} />`
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

// The bars of a lane. Their number depends on the pixels, not on the rounds and turns: spans on one
// pixel become one bar.

/** `filled`: the sum of the widths of its spans. */
type Bar = {
  x: number
  width: number
  filled: number
  tone: Span['tone']
  lane: Lane
  label: string
  spans: number
}

const widthMin = 1.5

/** The bars of one lane, for all turns. `middle`: the y position of the lane. */
function barsOf(spans: Span[], pieces: Piece[], middle: number): Child[] {
  return merged(spans, pieces).map((bar) => barView(bar, middle - barHeight / 2))
}

function merged(spans: Span[], pieces: Piece[]): Bar[] {
  const bars: Bar[] = []
  for (const { from, to, tone, lane, label } of spans.toSorted((a, b) => a.from - b.from)) {
    const x = xOf(pieces, from)
    const exact = xOf(pieces, to) - x
    const width = Math.max(widthMin, exact)
    const last = bars.at(-1)
    if (
      last !== undefined &&
      last.tone === tone &&
      x <= last.x + last.width + 0.5 &&
      (width <= 3 || last.width <= 3 || last.spans > 1)
    ) {
      last.width = Math.max(last.width, x + width - last.x)
      last.filled += exact
      last.spans += 1
    } else {
      const text = `${label}, ${elapsed(Math.max(0, to - from))}`
      bars.push({ x, width, filled: exact, tone, lane, label: text, spans: 1 })
    }
  }
  return bars
}

/** In a bar of many spans, the depth of the colour shows their share of the time. */
function barView({ x, width, filled, tone, lane, label, spans }: Bar, y: number): Child {
  const opacity = spans === 1 ? undefined : Math.min(1, 0.3 + (0.7 * filled) / width).toFixed(2)
  return html`<rect
    class=${`span ${lane} ${tone}`} x=${x} y=${y} width=${width} height=${barHeight}
    rx=${Math.min(2.5, width / 2)} opacity=${opacity}
  >
    <title>${spans === 1 ? label : `${spans} times ${lane}`}</title>
  </rect>`
}
