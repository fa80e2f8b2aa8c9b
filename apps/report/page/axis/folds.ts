// The folds of the time axis: a folded loop as one block with its content as a text, and breaks of
// the scale.

import { type Child, html } from '../../../page/kit/html.ts'
import { count, elapsed } from '../../../terminal/text/quantities.ts'
import type { ShownTurn } from '../data.ts'
import { lengthOf } from '../list/rows.ts'
import type { Fold, Piece } from './axis.ts'
import { height, middleOf, roundsHeight, top } from './layout.ts'
import { lanes, shares } from './spans.ts'

/** Generous width of a letter in the block's title. */
const letterPixels = 6.8

/** `turn`: the turn that has the loop. */
export function foldView(piece: Piece, fold: Fold, turn: ShownTurn | undefined): Child {
  const loop = turn?.loops[fold.loop]
  return fold.kind === 'loop' && loop !== undefined && turn !== undefined
    ? loopView(piece, fold, turn)
    : gapView(piece, fold)
}

function loopView(
  { x, width, isToScale }: Piece,
  { from, to, loop: place }: Fold,
  turn: ShownTurn,
): Child {
  const loop = turn.loops[place] as ShownTurn['loops'][number]
  const rounds = lengthOf(loop)
  const [left, right] = [x + 0.5, x + Math.max(2, width - 1)]
  const lasted = elapsed(to - from)
  const text = [
    `loop: rounds ${loop.from} to ${loop.to}, ${lasted}`,
    `loop: ${count(rounds, 'round')}, ${lasted}`,
    `${count(rounds, 'round')}, ${lasted}`,
    `${rounds}×, ${lasted}`,
    `${rounds}×`,
  ].find((one) => one.length * letterPixels < width - 6)
  const scale = isToScale ? '' : `, which is not drawn to scale`
  const middle = (left + right) / 2
  return html`<g class=${`fold loop${isToScale ? '' : ' broken'}`}>
    <title>A loop: rounds ${loop.from} to ${loop.to}, ${lasted}${scale}. A click unfolds it.</title>
    <rect x=${left} y=${top} width=${right - left} height=${height - top - 4} rx="4" />
    ${text !== undefined && html`<text class="fold-title" x=${middle} y=${top + roundsHeight / 2 + 4}>${text}</text>`}
    ${width > 64 && laneTexts(turn, loop, middle)}
    ${!isToScale && [left, right].map((x) => zigzag(x, top, height - 4))}
  </g>`
}

/** The time of each lane in the loop. */
function laneTexts(
  { rounds }: ShownTurn,
  { from, to }: ShownTurn['loops'][number],
  x: number,
): Child[] {
  const own = rounds
    .filter(({ round }) => round >= from && round <= to)
    .map((round) => shares(round, round.endedAt ?? round.askedAt ?? 0))
  return lanes.map((lane, index) => {
    const ms = own.reduce((sum, parts) => sum + parts[lane], 0)
    const y = middleOf(index) + 4
    return ms > 0 && html`<text class=${`fold-lane ${lane}`} x=${x} y=${y}>${elapsed(ms)}</text>`
  })
}

const gapWords = { idle: 'nothing happened for', long: 'shortened:', loop: '' } as const
/** A long span is covered only in its middle, so its ends still show its kind. */
const coverPixels = 14

function gapView({ x, width }: Piece, { kind, from, to }: Fold): Child {
  const cover = kind === 'idle' ? width : Math.min(width, coverPixels)
  const left = x + (width - cover) / 2
  return html`<g class=${`fold gap ${kind}`}>
    <title>${gapWords[kind]} ${elapsed(to - from)}</title>
    <rect x=${left} y=${top - 2} width=${cover} height=${height - top} />
    ${[left, left + cover].map((at) => zigzag(at, top - 2, height - 2))}
  </g>`
}

/** The mark of a broken scale, from top to bottom. */
function zigzag(x: number, from: number, to: number): Child {
  const teeth = Math.max(1, Math.round((to - from) / 8))
  const step = (to - from) / (2 * teeth)
  const points = Array.from(
    { length: 2 * teeth + 1 },
    (_, index) =>
      `${(x + (index % 2 === 0 ? -2 : 2)).toFixed(1)},${(from + index * step).toFixed(1)}`,
  )
  return html`<polyline class="zigzag" points=${points.join(' ')} />`
}
