// Parity of the core: the same transcript gives the same interventions through `weir judge` and through
// a guard, live, late, repeated, and through two fronts, with and without a log. Each trace goes one of
// these ways on a log and another one without (comparison.ts).

import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { formatNames } from '../../shared/wire/formats.ts'
import { corpora } from '../support/traces.ts'
import { differingIn, turn } from './comparison.ts'
import { atOnceDriver, liveDriver, mixtureDriver } from './core-drivers.ts'
import { openMemoryWorld, openParityWorld, type ParityWorld } from './driver.ts'

const worlds = [
  { place: 'on a log', open: openParityWorld, first: 0 },
  { place: 'in memory', open: openMemoryWorld, first: 1 },
]

describe.each(worlds)('a guard $place', ({ open, first }) => {
  let world: ParityWorld
  beforeAll(async () => {
    world = await open()
  })
  afterAll(() => world.close())

  describe.each(corpora.map((file, at) => ({ ...file, at })))('the traces of $name', (file) => {
    const ways = [
      turn(formatNames, file.at).map(liveDriver),
      turn(formatNames, file.at + 2).map(atOnceDriver),
      turn(formatNames, file.at + 4).map(mixtureDriver),
    ].flatMap((drivers, way) => drivers.map((driver) => ({ ...driver, way })))

    it.each(ways)('have the interventions of weir judge: $name', async ({ way, ...driver }) => {
      const part = { from: first + way, of: 3 }
      expect(await differingIn(world, driver, file, part)).toEqual([])
    })
  })
})
