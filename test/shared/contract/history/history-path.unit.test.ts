import { describe, expect, it } from '@jest/globals'
import { leavesOut, onPath } from '../../../../shared/contract/history/history-path.ts'

/** A turn of two entries, whose message follows `after`. */
const turn = (number: number, after: number | null = null) => [
  { turn: number, round: 0, afterTurn: after },
  { turn: number, round: 1, afterTurn: null },
]
const turnsOf = (entries: { turn: number }[]) => [...new Set(entries.map((one) => one.turn))]

describe('the path of a history', () => {
  it('has all turns up to the last one if each message follows the newest', () => {
    const entries = [turn(2), turn(5), turn(9)].flat()
    expect(onPath(entries, 9)).toEqual(entries)
    expect(turnsOf(onPath(entries, 5))).toEqual([2, 5])
  })

  it('leaves out the turns that a message jumps over, also for later messages', () => {
    const entries = [turn(2), turn(5), turn(7, 2), turn(9)].flat()
    expect(turnsOf(onPath(entries, 9))).toEqual([2, 7, 9])
    expect(turnsOf(onPath(entries, 5))).toEqual([2, 5])
  })

  it('goes back to a turn that was left out, and keeps its own beginning', () => {
    const entries = [turn(2), turn(5), turn(7, 2), turn(9, 5), turn(12, 7)].flat()
    expect(turnsOf(onPath(entries, 9))).toEqual([2, 5, 9])
    expect(turnsOf(onPath(entries, 12))).toEqual([2, 7, 12])
  })

  it('begins with the message that follows no turn', () => {
    expect(turnsOf(onPath([turn(2), turn(5), turn(7, -1), turn(9)].flat(), 9))).toEqual([7, 9])
  })

  it('takes a turn that does not exist for a place between turns, and a later one for the newest', () => {
    expect(turnsOf(onPath([turn(2), turn(5), turn(7, 4)].flat(), 7))).toEqual([2, 7])
    expect(turnsOf(onPath([turn(2), turn(5), turn(7, 99)].flat(), 7))).toEqual([2, 5, 7])
  })

  it('leaves out a summary if a later message jumps over its last turn', () => {
    const path = [turn(2), turn(9, 2)].flat()
    expect(leavesOut(path, { turn: 5, round: 1 })).toBe(true)
    expect(leavesOut(path, { turn: 2, round: 1 })).toBe(false)
    expect(leavesOut(path, { turn: 9, round: 1 })).toBe(false)
  })
})
