// The plan of a run: its faults and their times, from the seed. Each two minutes hold every kind at
// least once. Faults of the broker keep a distance from one another. All others fall at random, so
// several come at once. The faults of one guard keep a useful order: it is added, switched and
// removed. An upgrade begins in the middle of the run.

import type { Random } from '../simulation/random.ts'
import type { GuardName } from './guard-world.ts'

/** `pick`: the choice among the possible targets, as a part of 1. */
export type Fault =
  | { kind: 'kill'; pick: number; downMs: number }
  | { kind: 'kill-stage'; pick: number; downMs: number }
  | { kind: 'kill-front'; pick: number; downMs: number }
  | { kind: 'zombie'; pick: number; lingerMs: number }
  | { kind: 'churn'; pick: number; forMs: number }
  | { kind: 'broker-restart' }
  | { kind: 'broker-kill'; downMs: number }
  | { kind: 'broker-pause'; forMs: number }
  | { kind: 'upgrade' }
  | GuardFault
  | StopFault
  | BudgetFault

/** An operator's stop, released after `forMs`. A stop of a tree finds its name in the run. */
export type StopFault = {
  kind: 'stop'
  scope: 'agent' | 'tool' | 'tree'
  name: string
  mode: 'drain' | 'now'
  forMs: number
}

/** A small budget of the tenant, replaced by an ample one after `forMs`. */
export type BudgetFault = { kind: 'budget'; tokens: number; forMs: number }

/**
 * `to`: from the other mode, and back again after `forMs`, for these patterns of tools or for all.
 */
export type GuardFault = { guard: GuardName } & (
  | { kind: 'guard-add' }
  | { kind: 'guard-mode'; to: 'shadow' | 'enforce'; tools: string[]; forMs: number }
  | { kind: 'guard-version'; besideMs: number }
  | { kind: 'guard-remove' }
  | { kind: 'guard-kill'; pick: number; downMs: number }
  | { kind: 'guard-zombie'; pick: number; lingerMs: number }
)

export type FaultKind = Fault['kind']

export type PlannedFault = { atMs: number; fault: Fault }

const cycleMs = 120_000

/** Sorted by time. All begin before `totalMs`. */
export function planFaults(
  random: Random,
  totalMs: number,
  { upgrades = false } = {},
): PlannedFault[] {
  const planned: PlannedFault[] = upgrades
    ? [{ atMs: totalMs / 2, fault: { kind: 'upgrade' } }]
    : []
  for (let from = 0; from < totalMs; from += cycleMs)
    planned.push(...cycle(random).map(({ atMs, fault }) => ({ atMs: from + atMs, fault })))
  return planned.filter(({ atMs }) => atMs < totalMs).sort((a, b) => a.atMs - b.atMs)
}

function cycle(random: Random): PlannedFault[] {
  const within = (from: number, to: number) => random.between(from * 1_000, to * 1_000)
  const brokerSlots = shuffled(random, [8, 44, 84])
  const [restartAt = 0, killAt = 0, pauseAt = 0] = brokerSlots.map((slot) => within(slot, slot + 4))
  return [
    { atMs: restartAt, fault: { kind: 'broker-restart' } },
    { atMs: killAt, fault: { kind: 'broker-kill', downMs: random.between(0, 3_000) } },
    { atMs: pauseAt, fault: { kind: 'broker-pause', forMs: 30_000 } },
    ...Array.from(
      { length: 7 },
      (): PlannedFault => ({
        atMs: within(3, 115),
        fault: { kind: 'kill', pick: random.unit(), downMs: within(0, 3) },
      }),
    ),
    {
      atMs: within(5, 110),
      fault: { kind: 'kill-stage', pick: random.unit(), downMs: within(0, 3) },
    },
    ...Array.from(
      { length: 2 },
      (): PlannedFault => ({
        atMs: within(3, 115),
        fault: { kind: 'kill-front', pick: random.unit(), downMs: within(0, 3) },
      }),
    ),
    { atMs: within(2, 50), fault: { kind: 'zombie', pick: random.unit(), lingerMs: within(0, 4) } },
    {
      atMs: within(55, 95),
      fault: { kind: 'zombie', pick: random.unit(), lingerMs: within(0, 4) },
    },
    { atMs: within(10, 90), fault: { kind: 'churn', pick: random.unit(), forMs: 16_000 } },
    ...guardFaults(random.fork('guards')),
    ...stopFaults(random.fork('stops')),
    ...budgetFaults(random.fork('budgets')),
  ]
}

/** In this order, because a scope has one stop. */
function stopFaults(random: Random): PlannedFault[] {
  const within = (from: number, to: number) => random.between(from * 1_000, to * 1_000)
  const stop = (from: number, fault: Omit<StopFault, 'kind' | 'forMs'>): PlannedFault => ({
    atMs: within(from, from + 5),
    fault: { kind: 'stop', ...fault, forMs: within(3, 6) },
  })
  return [
    stop(16, { scope: 'agent', name: 'worker', mode: 'now' }),
    stop(56, { scope: 'tool', name: 'pay', mode: 'drain' }),
    stop(70, { scope: 'tool', name: 'look', mode: 'now' }),
    stop(36, { scope: 'tree', name: '', mode: 'now' }),
    stop(88, { scope: 'tree', name: '', mode: 'now' }),
    stop(100, { scope: 'agent', name: 'worker', mode: 'drain' }),
  ]
}

function budgetFaults(random: Random): PlannedFault[] {
  const within = (from: number, to: number) => random.between(from * 1_000, to * 1_000)
  return [28, 78].map((from) => ({
    atMs: within(from, from + 6),
    fault: {
      kind: 'budget',
      tokens: random.between(4_000, 12_000),
      forMs: within(4, 8),
    },
  }))
}

function guardFaults(random: Random): PlannedFault[] {
  const within = (from: number, to: number) => random.between(from * 1_000, to * 1_000)
  const ledger = shuffled<GuardFault>(random, [
    { guard: 'ledger', kind: 'guard-kill', pick: random.unit(), downMs: within(0, 3) },
    { guard: 'ledger', kind: 'guard-zombie', pick: random.unit(), lingerMs: within(0, 4) },
    { guard: 'ledger', kind: 'guard-version', besideMs: within(1, 4) },
    { guard: 'ledger', kind: 'guard-mode', to: 'shadow', tools: ['pay'], forMs: within(5, 10) },
  ])
  return [
    ...ledger.map(
      (fault, slot): PlannedFault => ({ atMs: within(4 + slot * 26, 14 + slot * 26), fault }),
    ),
    { atMs: within(1, 6), fault: { guard: 'lookout', kind: 'guard-add' } },
    {
      atMs: within(20, 36),
      fault: {
        guard: 'lookout',
        kind: 'guard-mode',
        to: 'enforce',
        tools: [],
        forMs: within(6, 14),
      },
    },
    { atMs: within(50, 80), fault: { guard: 'lookout', kind: 'guard-remove' } },
  ]
}

function shuffled<T>(random: Random, items: T[]): T[] {
  const rest = [...items]
  return items.map(() => rest.splice(random.below(rest.length), 1)[0] as T)
}
