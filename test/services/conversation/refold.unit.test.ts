// CONV-2 for whole logs: at every point where an owner may commit, a fold from the oldest open unit
// gives the result of the full fold. Each message opens exactly one turn, in order.
// The tests try all short logs, then random long ones. A variant that omits a rule must fail.

import { describe, expect, it } from '@jest/globals'
import fc from 'fast-check'
import {
  append,
  faultIn,
  furtherOf,
  type Next,
  nextOf,
  printed,
  start,
  type Variant,
  type World,
} from './log-model.ts'

const conversations = ['a', 'b']

/** Tries all logs of up to `length` records, shortest first, until one fails. */
function search(variant: Variant, length: number): { logs: number; wrong: string | undefined } {
  let worlds: World[] = [start]
  let logs = 0
  for (let n = 0; n <= length; n++) {
    for (const world of worlds) {
      logs++
      const wrong = faultIn(variant, world, conversations)
      if (wrong !== undefined) return { logs, wrong: `${wrong}\n${printed(world)}` }
    }
    if (n === length) break
    // Both conversations are alike, so the first record is always for the first one.
    const grow = (world: World) =>
      nextOf(world, n === 0 ? ['a'] : conversations).map(({ message, time }) =>
        append(variant, world, message, time),
      )
    worlds = worlds.flatMap(grow)
  }
  return { logs, wrong: undefined }
}

describe('all short logs of two conversations', () => {
  it('give the same from the oldest open unit as the full fold, and one turn for each message', () => {
    const { logs, wrong } = search('checked', 6)
    expect(wrong).toBeUndefined()
    expect(logs).toBeGreaterThan(10_000)
  })

  it.each<[Variant, string]>([
    ['stay', 'a record that changes nothing must move the last offset'],
    ['sleep', 'an early tick must move the last offset too'],
    ['open', 'messages must wait while a carried is in flight'],
    ['keep', 'a carried that does not count must be written again with the current state'],
  ])('reveal the fault of the variant "%s": %s', (variant) => {
    expect(search(variant, 6).wrong).toBeDefined()
  })
})

describe('long logs of several conversations', () => {
  const several = ['a', 'b', 'c']
  const choices = fc.array(fc.nat(), { minLength: 60, maxLength: 60 })

  /**
   * Appends a random record: half of the time one that moves a conversation on, half of the time
   * any record.
   */
  function byChance(world: World, pick: number): World {
    const next = [...nextOf(world, several), ...(pick % 2 === 0 ? furtherOf(world, several) : [])]
    const { message, time } = next[Math.floor(pick / 2) % next.length] as Next
    return append('checked', world, message, time)
  }

  it('give the same from the oldest open unit as the full fold, at each end', () => {
    fc.assert(
      fc.property(choices, (picks) => {
        let world = start
        for (const pick of picks) {
          world = byChance(world, pick)
          const wrong = faultIn('checked', world, several)
          if (wrong !== undefined) throw new Error(`${wrong}\n${printed(world)}`)
        }
      }),
      { numRuns: 40 },
    )
  })

  it('open a turn for every message that is not cancelled, and answer each message once', () => {
    fc.assert(
      fc.property(choices, (picks) => {
        let world = picks.reduce(byChance, start)
        for (let records = 0; world.units.size > 0; records++) {
          if (records > 1_000) throw new Error(`it does not come to an end:\n${printed(world)}`)
          world = appendLanding(world)
        }
        expect([...world.opened, ...world.dropped].sort()).toEqual([...world.sent].sort())
        expect([...world.finished].sort()).toEqual([...world.sent].sort())
      }),
      { numRuns: 100 },
    )
  })

  /**
   * Appends one more record towards the end of the world: the record in flight, otherwise a due
   * tick.
   */
  function appendLanding(world: World): World {
    const next = nextOf(world, several)
    const landing =
      next.find(({ message }) => message.type === 'carried') ??
      next.find(({ message }) => message.type === 'tick')
    if (landing === undefined)
      throw new Error(`nothing is in flight and nothing is due:\n${printed(world)}`)
    return append('checked', world, landing.message, landing.time)
  }
})
