// The rounds on the time axis, side by side, with numbers if there is room. Rounds that are too
// short to differ share a cell, even across turns, so the number of cells depends on the pixels.

import { type Child, html } from '../../../page/kit/html.ts'
import { count, elapsed } from '../../../terminal/text/quantities.ts'
import type { ShownRound } from '../data.ts'
import { marksOfRound } from '../list/tones.ts'
import { type Piece, xOf } from './axis.ts'
import { roundsHeight, top } from './layout.ts'

type Tone = 'plain' | 'warning' | 'bad'
type Cell = { x: number; end: number; rounds: PlacedRound[]; tone: Tone }

/** `turn`: its number, from 1. `until`: the end of an open round on the axis. */
export type PlacedRound = { turn: number; round: ShownRound; until: number }

/** The least width of a visible cell. */
const cellPixelsMin = 5
/** The least width of a visible pause between two turns. */
const pausePixelsMin = 1
const digitPixels = 7

/** In order, without the rounds of a folded loop. */
export function roundCells(rounds: PlacedRound[], pieces: Piece[]): Child[] {
  const cells: Cell[] = []
  for (const placed of rounds) {
    const { turn, round, until } = placed
    if (round.askedAt === null) continue
    const x = xOf(pieces, round.askedAt)
    const end = xOf(pieces, round.endedAt ?? until)
    const tone = toneOf(round)
    const last = cells.at(-1)
    const apartMin = last?.rounds.at(-1)?.turn === turn ? cellPixelsMin : pausePixelsMin
    const isNear = last !== undefined && x - last.end < apartMin
    if (
      last !== undefined &&
      isNear &&
      (end - last.x < cellPixelsMin || (end - x < cellPixelsMin && last.tone === tone))
    ) {
      last.end = end
      last.rounds.push(placed)
      last.tone = worse(last.tone, tone)
    } else cells.push({ x, end, rounds: [placed], tone })
  }
  return cells.map(cellView)
}

function toneOf(round: ShownRound): Tone {
  if (marksOfRound(round).some(({ tone }) => tone === 'bad')) return 'bad'
  return round.intervention === null ? 'plain' : 'warning'
}

function worse(one: Tone, other: Tone): Tone {
  if (one === 'bad' || other === 'bad') return 'bad'
  return one === 'warning' ? one : other
}

function cellView({ x, end, rounds, tone }: Cell): Child {
  const width = Math.max(1.5, end - x - 1)
  const { whole, title } = wordsOf(rounds)
  const text = [whole, count(rounds.length, 'round'), `${rounds.length}×`].find(
    (one) => one.length * digitPixels < width,
  )
  return html`<g class=${`cell ${tone}`}>
    <title>${title}</title>
    <rect x=${x} y=${top} width=${width} height=${roundsHeight} rx=${Math.min(3, width / 2)} />
    ${text !== undefined && html`<text x=${x + width / 2} y=${top + roundsHeight / 2 + 4}>${text}</text>`}
  </g>`
}

/** Several turns have no duration here: the time between them does not count. */
function wordsOf(rounds: PlacedRound[]): { whole: string; title: string } {
  const [first, last] = [rounds[0] as PlacedRound, rounds.at(-1) as PlacedRound]
  if (first.turn !== last.turn) {
    const whole = `turns ${first.turn} to ${last.turn}`
    return { whole, title: `${whole}, ${count(rounds.length, 'round')}` }
  }
  const lasted = (last.round.endedAt ?? 0) - (first.round.askedAt ?? 0)
  const isOne = rounds.length === 1
  const whole = isOne ? `${first.round.round}` : `${first.round.round} to ${last.round.round}`
  return {
    whole,
    title: `${isOne ? 'round' : 'rounds'} ${whole}${lasted > 0 ? `, ${elapsed(lasted)}` : ''}`,
  }
}
