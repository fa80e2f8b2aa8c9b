// The second moment of a replay, at any time of a round.

import { expect, it } from '@jest/globals'
import { apart } from '../../../apps/replay/guard/moment.ts'

it.each([
  ['millisecond', 1],
  ['second', 1_000],
  ['minute', 60_000],
])('swaps an odd and an even %s also if a smaller unit carries', (_, unit) => {
  const begin = Date.parse('2026-05-01T08:00:00.000Z')
  const times = Array.from({ length: 4_000 }, (_value, at) => begin + at * 997)
  const kept = times.filter(
    (time) => (Math.floor(apart(time) / unit) - Math.floor(time / unit)) % 2 === 0,
  )
  expect(kept).toEqual([])
})
