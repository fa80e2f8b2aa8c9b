// The cost of a conversation with very many turns. It counts the reads of the axis's pieces, so the
// result is the same on every machine.

import { describe, expect, it } from '@jest/globals'
import { timelineOf } from '../../../apps/history/inspect/timeline-of.ts'
import {
  type Fold,
  isFolded,
  isMarked,
  type Piece,
  piecesOf,
  xOf,
} from '../../../apps/report/page/axis/axis.ts'
import { ticksOf } from '../../../apps/report/page/axis/ticks.ts'
import { answeredTurn, inTurns } from './several-turns.ts'

const turnMs = 1_000
const everyMs = 6_000

function axisOf(turns: number, kind: Fold['kind'] = 'idle') {
  const begins = Array.from({ length: turns }, (_, turn) => turn * everyMs)
  const folds = begins.slice(1).map(
    (begin, index): Fold => ({
      kind,
      from: begin - everyMs + turnMs,
      to: begin,
      turn: index + 1,
      loop: 0,
    }),
  )
  return { begins, pieces: piecesOf(0, turns * everyMs, folds, { width: 1_000, rounds: turns }) }
}

/** The number of reads of a piece's beginning or end by `act`. */
function looksOf(pieces: Piece[], act: (watched: Piece[]) => void): number {
  let looks = 0
  const watched = pieces.map((piece) => ({
    ...piece,
    get from() {
      looks += 1
      return piece.from
    },
    get to() {
      looks += 1
      return piece.to
    },
  }))
  act(watched)
  return looks
}

describe('the axis of very many turns', () => {
  it('costs little more than twice as much for twice as many turns', () => {
    const cost = (turns: number) => {
      const { begins, pieces } = axisOf(turns)
      return looksOf(pieces, (watched) => ticksOf(watched, begins, 1_000))
    }
    expect(cost(2_000)).toBeLessThan(2.5 * cost(1_000))
  })

  it('marks pauses only while there is room, and still shows the beginnings of turns', () => {
    const kinds = (turns: number) => {
      const { begins, pieces } = axisOf(turns)
      const ticks = ticksOf(pieces, begins, 1_000)
      return {
        marks: pieces.filter(isMarked).length,
        gaps: ticks.filter(({ kind }) => kind === 'gap').length,
        begins: ticks.length,
      }
    }
    expect(kinds(5)).toMatchObject({ marks: 4, gaps: 4 })
    expect(kinds(1_000)).toEqual({ marks: 0, gaps: 0, begins: expect.any(Number) })
    expect(kinds(1_000).begins).toBeGreaterThan(10)
  })

  it('uses binary search to find a time', () => {
    const { pieces } = axisOf(2_000)
    expect(looksOf(pieces, (watched) => xOf(watched, 1_500 * everyMs))).toBeLessThan(20)
  })

  it('has the exact edges of a folded loop', () => {
    const { pieces } = axisOf(2_000, 'loop')
    const [from, to] = [900 * everyMs + turnMs, 901 * everyMs]
    const folded = ([begin, end]: [number, number]) => isFolded(pieces, { from: begin, to: end })
    const inIt: [number, number][] = [
      [from, to],
      [from + 1, to - 1],
      [from, from],
      [to, to],
    ]
    const notAllInIt: [number, number][] = [
      [from - 1, to],
      [from, to + 1],
      [from - 1, from - 1],
      [to + 1, to + 1],
    ]
    expect(inIt.filter(folded)).toEqual(inIt)
    expect(notAllInIt.filter(folded)).toEqual([])
    expect(isFolded(axisOf(2_000).pieces, { from, to })).toBe(false)
    expect(looksOf(pieces, (watched) => isFolded(watched, { from, to }))).toBeLessThan(20)
  })
})

describe('the timeline of very many turns', () => {
  it('costs little more than twice as much for twice as many turns', () => {
    const cost = (turns: number) => {
      let looks = 0
      const records = inTurns(Array.from({ length: turns }, answeredTurn)).map(
        ({ message, ...rest }) => ({
          ...rest,
          get message() {
            looks += 1
            return message
          },
        }),
      )
      expect(timelineOf('c', records, { reasoning: false }).turns).toHaveLength(turns)
      return looks
    }
    expect(cost(400)).toBeLessThan(2.5 * cost(200))
  })
})
