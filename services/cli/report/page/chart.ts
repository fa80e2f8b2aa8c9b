// The time axis with its lanes. What is drawn goes with the pixels, not with the number of rounds: spans that would lie on one pixel are one.

import { took } from '../../terminal/quantities.ts'
import type { Fold, Piece } from './axis.ts'
import { foldsOf, marksOf, piecesOf, timeAt, xOf } from './axis.ts'
import type { ReportData, ShownTurn } from './data.ts'
import type { Child } from './element.ts'
import { element, fill, graphic } from './element.ts'
import { lengthOf } from './rows.ts'
import type { Lane, Span } from './spans.ts'
import { lanes, spansOf } from './spans.ts'

export type Chart = {
  node: HTMLElement
  /** `width`: for paper, in pixels; without it as wide as there is room. */
  draw(width?: number): void
  /** Shows which round is looked at; undefined: none. */
  point(turn: number, round: number | undefined): void
}

export type ChartOptions = {
  isOpen: (turn: number, loop: number) => boolean
  onRound: (turn: number, round: number) => void
  onLoop: (turn: number, loop: number) => void
}

const laneHeight = 20
const bar = 12
const top = 22
const height = top + lanes.length * laneHeight + 6
const laneWords: Record<Lane, string> = { model: 'model', checks: 'checks', guards: 'guards', tools: 'tools', waits: 'waits' }

export function chart({ timeline: { turns } }: ReportData, { isOpen, onRound, onLoop }: ChartOptions): Chart {
  const ends = turns.map(endOf)
  const spans = turns.map((turn, index) => spansOf(turn, ends[index] ?? 0))
  const from = Math.min(...spans.flatMap((own) => own.slice(0, 1).map((span) => span.from)), turns[0]?.startedAt ?? 0)
  const to = ends.reduce((latest, end) => Math.max(latest, end), from)
  const drawing = graphic('svg', { class: 'lanes', role: 'img', height, 'aria-label': described(turns, to - from) })
  const pointer = graphic('rect', { class: 'pointer', y: top - 4, height: height - top })
  const names = element(
    'div',
    { class: 'lane-names', 'aria-hidden': 'true' },
    lanes.map((lane) => element('span', { class: lane }, laneWords[lane])),
  )
  const node = element('section', { class: 'chart', 'aria-label': 'Time' }, names, element('div', { class: 'canvas' }, drawing))
  let pieces: Piece[] = []
  let pointed: { turn: number; round: number } | undefined

  function draw(given?: number): void {
    const width = given ?? Math.max(120, drawing.parentElement?.clientWidth ?? 0)
    pieces = piecesOf(from, to, foldsOf(turns, ends, spans, isOpen), width)
    drawing.setAttribute('width', String(width))
    drawing.setAttribute('viewBox', `0 0 ${width} ${height}`)
    const folds = pieces.flatMap((piece) => (piece.fold === null ? [] : [foldNode(piece, piece.fold, turns[piece.fold.turn])]))
    fill(drawing, marks(), lanes.map(laneNodes), folds, pointer)
    place()
  }

  function marks(): Child[] {
    return marksOf(pieces, 76).map(({ x, text }) => [
      graphic('line', { class: 'tick', x1: x, x2: x, y1: top - 6, y2: height }),
      graphic('text', { class: 'tick-text', x: x + 3, y: 10 }, text),
    ])
  }

  function laneNodes(lane: Lane, index: number): Child[] {
    const y = top + index * laneHeight + (laneHeight - bar) / 2
    const line = graphic('line', { class: 'rail', x1: 0, x2: '100%', y1: y + bar / 2, y2: y + bar / 2 })
    return [
      line,
      ...spans.flatMap((own) =>
        merged(
          own.filter((span) => span.lane === lane && !isFolded(span)),
          pieces,
        ).map((one) => spanNode(one, y)),
      ),
    ]
  }

  function isFolded({ from, to }: Span): boolean {
    return pieces.some(({ fold }) => fold !== null && fold.kind === 'loop' && from >= fold.from && to <= fold.to)
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

function endOf({ end, rounds, startedAt }: ShownTurn): number {
  const last = rounds.at(-1)
  return Math.max(end?.at ?? 0, last?.endedAt ?? 0, last?.askedAt ?? 0, startedAt)
}

function described(turns: ShownTurn[], ms: number): string {
  const rounds = turns.reduce((sum, turn) => sum + turn.rounds.length, 0)
  const loops = turns.flatMap((turn) => turn.loops.map(({ from, to }) => `rounds ${from} to ${to} are a loop`))
  return `What took how long, over ${took(ms)} and ${rounds} rounds${loops.length === 0 ? '' : `; ${loops.slice(0, 5).join(', ')}`}. The list below says the same in words.`
}

/** The newest round that began at this time. */
function roundAt(turns: ShownTurn[], time: number): { turn: number; round: number } | undefined {
  let found: { turn: number; round: number } | undefined
  for (const [turn, { rounds }] of turns.entries())
    for (const [round, { askedAt }] of rounds.entries())
      if (askedAt !== null && (askedAt <= time || found === undefined)) found = { turn, round }
  return found
}

// ── Spans and folds ──

/** `filled`: the sum of the widths of its spans. */
type Bar = { x: number; width: number; filled: number; tone: Span['tone']; lane: Lane; label: string; spans: number }

const widthMin = 1.5

function merged(spans: Span[], pieces: Piece[]): Bar[] {
  const bars: Bar[] = []
  for (const { from, to, tone, lane, label } of spans.toSorted((a, b) => a.from - b.from)) {
    const x = xOf(pieces, from)
    const exact = xOf(pieces, to) - x
    const width = Math.max(widthMin, exact)
    const last = bars.at(-1)
    if (last !== undefined && last.tone === tone && x <= last.x + last.width + 0.5 && (width <= 3 || last.width <= 3 || last.spans > 1)) {
      last.width = Math.max(last.width, x + width - last.x)
      last.filled += exact
      last.spans += 1
    } else bars.push({ x, width, filled: exact, tone, lane, label: `${label}, ${took(Math.max(0, to - from))}`, spans: 1 })
  }
  return bars
}

/** Of many in one the depth of the colour tells how much of the time they take. */
function spanNode({ x, width, filled, tone, lane, label, spans }: Bar, y: number): SVGElement {
  const title = graphic('title', {}, spans === 1 ? label : `${spans} times ${lane}`)
  return graphic(
    'rect',
    {
      class: `span ${lane} ${tone}`,
      x,
      y,
      width,
      height: bar,
      rx: Math.min(2.5, width / 2),
      opacity: spans === 1 ? undefined : Math.min(1, 0.3 + (0.7 * filled) / width).toFixed(2),
    },
    title,
  )
}

const foldWords: Record<Fold['kind'], string> = { loop: 'loop', idle: 'nothing happened', wait: 'a long wait' }

function foldNode({ x, width }: Piece, fold: Fold, turn: ShownTurn | undefined): SVGElement {
  const { kind, from, to } = fold
  const loop = turn?.loops[fold.loop]
  const label = kind === 'loop' && loop !== undefined ? `${lengthOf(loop)}×` : ''
  const bottom = height - 4
  return graphic(
    'g',
    { class: `fold ${kind}` },
    graphic('title', {}, `${foldWords[kind]}, ${took(to - from)}${kind === 'loop' ? '; folded' : ', shortened'}`),
    graphic('rect', { x: x + 1, y: top - 4, width: Math.max(2, width - 2), height: bottom - top + 4, rx: kind === 'loop' ? 4 : 0 }),
    width > 26 && label !== '' && graphic('text', { class: 'fold-count', x: x + width / 2, y: (top + bottom) / 2 }, label),
    width > 60 && graphic('text', { class: 'fold-time', x: x + width / 2, y: (top + bottom) / 2 + 17 }, took(to - from)),
    width <= 60 && width > 26 && kind === 'wait' && graphic('text', { class: 'fold-time', x: x + width / 2, y: top - 12 }, took(to - from)),
  )
}
