// Parity of the core: the same transcript gives the same interventions through `weir judge` and through
// a guard, live, late, repeated, and through two fronts, with and without a log.

import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { formatNames } from '../../shared/wire/formats.ts'
import { corpora } from '../support/traces.ts'
import { differingIn, turn } from './comparison.ts'
import { atOnceDriver, liveDriver, mixtureDriver } from './core-drivers.ts'
import { openMemoryWorld, openParityWorld, type ParityWorld } from './driver.ts'

const worlds = [
  { place: 'on a log', open: openParityWorld },
  { place: 'in memory', open: openMemoryWorld },
]

describe.each(worlds)('a guard $place', ({ open }) => {
  let world: ParityWorld
  beforeAll(async () => {
    world = await open()
  })
  afterAll(() => world.close())

  describe.each(corpora.map((file, at) => ({ ...file, at })))('the traces of $name', (file) => {
    it.each([
      ...turn(formatNames, file.at).map(liveDriver),
      ...turn(formatNames, file.at + 2).map(atOnceDriver),
      ...turn(formatNames, file.at + 4).map(mixtureDriver),
    ])('have the interventions of weir judge: $name', async (driver) => {
      expect(await differingIn(world, driver, file)).toEqual([])
    })
  })
})
