// The rounds on the time axis, one beside the other, with their numbers where there is room; those too short to be told apart stand in one cell.

import { count, took } from '../../terminal/quantities.ts'
import type { Piece } from './axis.ts'
import { xOf } from './axis.ts'
import { roundsHeight, top } from './chart-layout.ts'
import type { ShownRound } from './data.ts'
import { graphic } from './element.ts'
import { marksOfRound } from './tones.ts'

type Tone = 'plain' | 'warning' | 'bad'
type Cell = { x: number; end: number; rounds: ShownRound[]; tone: Tone }

/** A cell that can be seen as one. */
const cellPixelsMin = 5
const digitPixels = 7

/** Of one turn, without those in a folded loop. `until`: where one ends that is still open. */
export function roundCells(rounds: ShownRound[], pieces: Piece[], until: number): SVGElement[] {
  const cells: Cell[] = []
  for (const round of rounds) {
    if (round.askedAt === null) continue
    const x = xOf(pieces, round.askedAt)
    const end = xOf(pieces, round.endedAt ?? until)
    const tone = toneOf(round)
    const last = cells.at(-1)
    const isNear = last !== undefined && x - last.end < cellPixelsMin
    if (last !== undefined && isNear && (end - last.x < cellPixelsMin || (end - x < cellPixelsMin && last.tone === tone))) {
      last.end = end
      last.rounds.push(round)
      last.tone = worse(last.tone, tone)
    } else cells.push({ x, end, rounds: [round], tone })
  }
  return cells.map(cellNode)
}

function toneOf(round: ShownRound): Tone {
  if (marksOfRound(round).some(({ tone }) => tone === 'bad')) return 'bad'
  return round.intervention === null ? 'plain' : 'warning'
}

function worse(one: Tone, other: Tone): Tone {
  return one === 'bad' || other === 'bad' ? 'bad' : one === 'warning' ? one : other
}

function cellNode({ x, end, rounds, tone }: Cell): SVGElement {
  const first = rounds[0]?.round ?? 0
  const last = rounds.at(-1)?.round ?? 0
  const width = Math.max(1.5, end - x - 1)
  const whole = first === last ? `${first}` : `${first} to ${last}`
  const text = [whole, count(rounds.length, 'round'), `${rounds.length}×`].find((one) => one.length * digitPixels < width)
  const lasted = (rounds.at(-1)?.endedAt ?? 0) - (rounds[0]?.askedAt ?? 0)
  return graphic(
    'g',
    { class: `cell ${tone}` },
    graphic('title', {}, `${first === last ? 'round' : 'rounds'} ${whole}${lasted > 0 ? `, ${took(lasted)}` : ''}`),
    graphic('rect', { x, y: top, width, height: roundsHeight, rx: Math.min(3, width / 2) }),
    text !== undefined && graphic('text', { x: x + width / 2, y: top + roundsHeight / 2 + 4 }, text),
  )
}
