// The plan of faults is the same for the same seed. It is complete in every two minutes, with a
// distance between the broker's faults.

import { describe, expect, it } from '@jest/globals'
import { createRandom } from '../simulation/random.ts'
import { type PlannedFault, planFaults } from './plan.ts'

const minute = 60_000
const seeds = Array.from({ length: 50 }, (_, i) => `seed-${i}`)
const guardKinds = [
  'guard-add',
  'guard-kill',
  'guard-mode',
  'guard-remove',
  'guard-version',
  'guard-zombie',
]
const kinds = [
  'broker-kill',
  'broker-pause',
  'broker-restart',
  'budget',
  'churn',
  ...guardKinds,
  'kill',
  'kill-front',
  'kill-stage',
  'stop',
  'zombie',
]

const kindsIn = (plan: PlannedFault[]) => [...new Set(plan.map(({ fault }) => fault.kind))].sort()

describe('a plan of faults', () => {
  it('is the same for the same seed, and differs between seeds', () => {
    const plan = (seed: string) => planFaults(createRandom(seed), 10 * minute)
    expect(plan('a')).toEqual(plan('a'))
    expect(plan('a')).not.toEqual(plan('b'))
  })

  it('has an upgrade in the middle if the run upgrades', () => {
    const plan = planFaults(createRandom('a'), 4 * minute, { upgrades: true })
    const upgrades = plan.filter(({ fault }) => fault.kind === 'upgrade')
    expect(upgrades.map(({ atMs }) => atMs)).toEqual([2 * minute])
    expect(kindsIn(planFaults(createRandom('a'), 4 * minute))).not.toContain('upgrade')
  })

  it.each(seeds)('holds every kind of fault in every two minutes (%s)', (seed) => {
    const plan = planFaults(createRandom(seed), 6 * minute)
    for (const from of [0, 2 * minute, 4 * minute])
      expect(kindsIn(plan.filter(({ atMs }) => atMs >= from && atMs < from + 2 * minute))).toEqual(
        kinds,
      )
  })

  it.each(seeds)('leaves the broker time to come back before its next fault (%s)', (seed) => {
    const broker = planFaults(createRandom(seed), 6 * minute).filter(({ fault }) =>
      fault.kind.startsWith('broker-'),
    )
    const gaps = broker
      .slice(1)
      .map(
        ({ atMs }, i) =>
          atMs - (broker[i]?.atMs ?? 0) - (broker[i]?.fault.kind === 'broker-pause' ? 30_000 : 0),
      )
    expect(Math.min(...gaps)).toBeGreaterThan(0)
  })

  it.each(seeds)('adds a guard, makes it enforce and removes it, repeatedly (%s)', (seed) => {
    const plan = planFaults(createRandom(seed), 6 * minute)
    const lookout = plan.flatMap(({ fault }) =>
      'guard' in fault && fault.guard === 'lookout' ? [fault.kind] : [],
    )
    expect(lookout).toEqual(
      Array.from({ length: 3 }, () => ['guard-add', 'guard-mode', 'guard-remove']).flat(),
    )
  })

  it('begins no fault after its end', () => {
    expect(Math.max(...planFaults(createRandom('a'), minute).map(({ atMs }) => atMs))).toBeLessThan(
      minute,
    )
  })
})
