import { describe, expect, it } from '@jest/globals'
import { printSweep, type SweepPage, type SweepRow } from '../../../apps/replay/sweep.ts'
import { sweepSvg } from '../../../apps/replay/sweep-plot.ts'
import { output } from '../../support/output.ts'

function swept(...points: [roundsSaved: number, falseAlarms: number][]): SweepPage {
  const rows = points.map(([roundsSaved, falseAlarms], index): SweepRow => {
    return {
      value: index + 2,
      touched: 1,
      roundsSaved,
      tokensSaved: roundsSaved * 100,
      milder: 0,
      roundsLater: 0,
      falseAlarms,
    }
  })
  return { key: 'loop.identicalSuccesses', conversations: 3, rows }
}

describe('the plot of a sweep', () => {
  it.each([
    ['that ends with nothing saved', swept([5, 3], [4, 2], [3, 1], [0, 0], [0, 0])],
    ['with both lines at one height', swept([5, 5], [3, 3], [1, 1], [12, 12])],
    ['with more good calls than rounds', swept([0, 2], [9, 10], [1, 0], [0, 1], [10, 9])],
    ['close to its axis', swept([40, 0], [1, 0], [2, 1], [3, 2], [0, 3], [2, 4], [24, 1])],
  ])('%s has no text over another', (_, page) => {
    const boxes = [
      ...sweepSvg(page).matchAll(
        /<text x="([\d.]+)" y="([\d.]+)"(?: text-anchor="(\w+)")?[^>]*>([^<]*)<\/text>/g,
      ),
    ].map(boxOf)
    expect(boxes).toHaveLength(page.rows.length * 3 + 3)
    const pairs = boxes.flatMap((one, index) =>
      boxes.slice(index + 1).map((other) => [one, other] as const),
    )
    expect(
      pairs
        .filter(([one, other]) => isOver(one, other))
        .map(([one, other]) => [one.text, other.text]),
    ).toEqual([])
    expect(boxes.filter(({ right }) => right > 640)).toEqual([])
  })
})

type Box = { text: string; left: number; right: number; top: number; bottom: number }

/** Of a text of 13 px: no letter is wider than 8 px on average, and digits reach 10 px up. */
function boxOf([, x, y, anchor = 'start', text = '']: RegExpExecArray): Box {
  const width = text.length * 8
  const left = Number(x) - (anchor === 'middle' ? width / 2 : anchor === 'end' ? width : 0)
  return { text, left, right: left + width, top: Number(y) - 10, bottom: Number(y) }
}

function isOver(one: Box, other: Box): boolean {
  return (
    one.left < other.right &&
    other.left < one.right &&
    one.top < other.bottom &&
    other.top < one.bottom
  )
}

it('names the turn of the savings, and uses the singular for one', () => {
  const { stream, text: printed } = output()
  printSweep(swept([5, 3], [1, 1]), stream)
  const text = printed()
  expect(text).toContain(
    "savings are upper limits, and only of the turn of a conversation's first changed decision: later turns are unknown\n",
  )
  expect(text).toMatch(/ 1 round\n.* 1 false alarm\n/)
})

it('claims no savings for a milder value, and shows the least delay', () => {
  const page = swept([5, 3], [0, 0])
  const [first, second] = page.rows as [SweepRow, SweepRow]
  const milder = { ...second, touched: 2, milder: 2, roundsLater: 2 }
  const { stream, text: printed } = output()
  printSweep({ ...page, rows: [first, milder] }, stream)
  const text = printed()
  expect(text).toMatch(/ 3 +2 +unknown +unknown +≥ 2 +0\n/)
  expect(text).toContain('unknown, at least 2 rounds later\n')
  expect(text).toContain('what they would cost is unknown')
  expect(sweepSvg({ ...page, rows: [first, milder] })).toContain('>?</text>')
})
