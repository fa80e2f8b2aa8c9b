import { describe, expect, it } from '@jest/globals'
import fc from 'fast-check'
import {
  assignPartitions,
  type Claimant,
} from '../../../../../shared/bus/kafka/group/assignment.ts'

const newcomer = (member: string): Claimant => ({ member, generation: -1, owned: [] })

describe('the partitions of a group', () => {
  it('are shared evenly among members without partitions', () => {
    const given = assignPartitions([newcomer('b'), newcomer('a')], 5)
    expect([...given.values()].map((list) => list.length).sort()).toEqual([2, 3])
    expect([...given.values()].flat().sort()).toEqual([0, 1, 2, 3, 4])
  })

  it('stay where they are when nothing has changed', () => {
    const given = assignPartitions(
      [
        { member: 'a', generation: 4, owned: [1, 3] },
        { member: 'b', generation: 4, owned: [0, 2] },
      ],
      4,
    )
    expect(given).toEqual(
      new Map([
        ['a', [1, 3]],
        ['b', [0, 2]],
      ]),
    )
  })

  it('move to a new member only up to an even share', () => {
    const given = assignPartitions(
      [{ member: 'a', generation: 2, owned: [0, 1, 2, 3] }, newcomer('b')],
      4,
    )
    expect(given.get('a')).toEqual([0, 1])
    expect(given.get('b')).toEqual([2, 3])
  })

  it('move to the remaining members when one leaves, and nothing else moves', () => {
    const given = assignPartitions(
      [
        { member: 'a', generation: 7, owned: [0, 1] },
        { member: 'b', generation: 7, owned: [4, 5] },
      ],
      6,
    )
    expect(given.get('a')).toEqual(expect.arrayContaining([0, 1]))
    expect(given.get('b')).toEqual(expect.arrayContaining([4, 5]))
    expect([given.get('a')?.length, given.get('b')?.length]).toEqual([3, 3])
  })

  it('stay with their last owner if a member that was away claims them as well', () => {
    const given = assignPartitions(
      [
        { member: 'zombie', generation: 3, owned: [0, 1] },
        { member: 'owner', generation: 5, owned: [0, 1] },
      ],
      2,
    )
    expect(given.get('owner')).toEqual([0])
    expect(given.get('zombie')).toEqual([1])
  })

  it('are each assigned once, evenly, for any claims and any order of members', () => {
    const claimants = fc.uniqueArray(
      fc.record({
        member: fc.string({ minLength: 1, maxLength: 3 }),
        generation: fc.integer({ min: -1, max: 3 }),
        owned: fc.array(fc.integer({ min: -2, max: 14 })),
      }),
      { selector: ({ member }) => member, minLength: 1, maxLength: 6 },
    )
    fc.assert(
      fc.property(claimants, fc.integer({ min: 1, max: 12 }), (group, partitions) => {
        const given = assignPartitions(group, partitions)
        const sizes = [...given.values()].map((list) => list.length)
        expect([...given.keys()].sort()).toEqual(group.map(({ member }) => member).sort())
        expect([...given.values()].flat().sort((a, b) => a - b)).toEqual(
          Array.from({ length: partitions }, (_, n) => n),
        )
        expect(Math.max(...sizes) - Math.min(...sizes)).toBeLessThanOrEqual(1)
        expect(new Map([...assignPartitions(group.toReversed(), partitions)].sort())).toEqual(
          new Map([...given].sort()),
        )
      }),
    )
  })
})
