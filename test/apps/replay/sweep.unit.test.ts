import { expect, it } from '@jest/globals'
import { printSweep } from '../../../apps/replay/sweep.ts'
import type { SweepPage, SweepRow } from '../../../apps/replay/sweep-table.ts'
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
})
