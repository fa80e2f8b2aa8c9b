// CONV-2, for whole logs: at every point at which an owner may commit, a fold that begins at the
// first record of the oldest open unit gives what the full fold gives; and each message opens
// exactly one turn, in order. First all short logs, then long ones by chance. A variant of the
// rules that leaves one of them out must not pass.

import { describe, expect, it } from '@jest/globals'
import fc from 'fast-check'
import {
  append,
  furtherOf,
  type Next,
  nextOf,
  start,
  told,
  type Variant,
  type World,
  wrongIn,
} from './log-model.ts'

const conversations = ['a', 'b']

/** All logs of up to `length` records, shortest first, until one goes wrong. */
function search(variant: Variant, length: number): { logs: number; wrong: string | undefined } {
  let worlds: World[] = [start]
  let logs = 0
  for (let n = 0; n <= length; n++) {
    for (const world of worlds) {
      logs++
      const wrong = wrongIn(variant, world, conversations)
      if (wrong !== undefined) return { logs, wrong: `${wrong}\n${told(world)}` }
    }
    if (n === length) break
    // Both conversations are alike, so the first record is always of the first.
    const grow = (world: World) =>
      nextOf(world, n === 0 ? ['a'] : conversations).map(({ message, time }) =>
        append(variant, world, message, time),
      )
    worlds = worlds.flatMap(grow)
  }
  return { logs, wrong: undefined }
}

describe('all short logs of two conversations', () => {
  it('fold from the oldest open unit to what the full fold gives, and each message opens one turn', () => {
    const { logs, wrong } = search('checked', 6)
    expect(wrong).toBeUndefined()
    expect(logs).toBeGreaterThan(10_000)
  })

  it.each<[Variant, string]>([
    ['stay', 'a record that fits nothing must move the last offset'],
    ['sleep', 'a tick that comes too early must move the last offset too'],
    ['open', 'while a carried is in flight messages must only wait'],
    ['keep', 'a carried that does not count must be written again with the state as it is now'],
  ])('show what goes wrong in the variant "%s": %s', (variant) => {
    expect(search(variant, 6).wrong).toBeDefined()
  })
})

describe('long logs of several conversations', () => {
  const several = ['a', 'b', 'c']
  const choices = fc.array(fc.nat(), { minLength: 60, maxLength: 60 })

  /**
   * What comes next by chance: half of the time what moves a conversation on, half of the time
   * anything at all.
   */
  function byChance(world: World, pick: number): World {
    const next = [...nextOf(world, several), ...(pick % 2 === 0 ? furtherOf(world, several) : [])]
    const { message, time } = next[Math.floor(pick / 2) % next.length] as Next
    return append('checked', world, message, time)
  }

  it('fold from the oldest open unit to what the full fold gives, wherever they end', () => {
    fc.assert(
      fc.property(choices, (picks) => {
        let world = start
        for (const pick of picks) {
          world = byChance(world, pick)
          const wrong = wrongIn('checked', world, several)
          if (wrong !== undefined) throw new Error(`${wrong}\n${told(world)}`)
        }
      }),
      { numRuns: 40 },
    )
  })

  it('open a turn for every message that is not taken back, and answer each, once nothing more comes', () => {
    fc.assert(
      fc.property(choices, (picks) => {
        let world = picks.reduce(byChance, start)
        for (let records = 0; world.units.size > 0; records++) {
          if (records > 1_000) throw new Error(`it does not come to an end:\n${told(world)}`)
          world = settle(world)
        }
        expect([...world.opened, ...world.dropped].sort()).toEqual([...world.sent].sort())
        expect([...world.finished].sort()).toEqual([...world.sent].sort())
      }),
      { numRuns: 100 },
    )
  })

  /**
   * One more record that brings the world towards its end: what is in flight lands, then what is
   * due comes due.
   */
  function settle(world: World): World {
    const next = nextOf(world, several)
    const landing =
      next.find(({ message }) => message.type === 'carried') ??
      next.find(({ message }) => message.type === 'tick')
    if (landing === undefined)
      throw new Error(`nothing is in flight and nothing is due:\n${told(world)}`)
    return append('checked', world, landing.message, landing.time)
  }
})
