// One call, and records of any owner in any order. The first part visits every reachable state of
// the reducer with a small alphabet of records. The second runs longer random histories with time. Nothing here trusts
// the writers: they also claim late, lie about whose claim it is, and repeat themselves.

import { describe, expect, it } from '@jest/globals'
import fc from 'fast-check'
import { executor } from '../../../services/executor/reducer.ts'
import type { Turn } from '../../../services/executor/turn.ts'
import type {
  Cancel,
  Claim,
  Lapsed,
  Outcome,
  RoundCleared,
  RoundExecuted,
  Tick,
} from '../../../shared/contract/messages.ts'
import {
  callOf,
  cancel,
  claim,
  expiresAt,
  lapsed,
  ok,
  outcome,
  policy,
  roundCleared,
  tick,
} from './samples.ts'

type Given = RoundCleared | Cancel | Claim | Outcome | Lapsed | Tick

/** The state of the call as an observer sees it. */
type Seen = {
  /** Accepted claims that were not given back: each may have started the tool. */
  mayHaveStarted: number
  results: string[]
}

type World = { turn: Turn | undefined; time: number; seen: Seen }

const start: World = { turn: undefined, time: 0, seen: { mayHaveStarted: 0, results: [] } }

/** As the runtime hands records over: a tick only to an open unit that is due. */
function step(world: World, message: Given, waitMs: number, idempotent: boolean): World {
  const time = world.time + waitMs
  const due = world.turn && executor.due(world.turn)
  if (message.type === 'tick' && (due === undefined || due > time)) return { ...world, time }
  const before = taskIn(world.turn)
  const { state: turn, records = [] } = executor.react(structuredClone(world.turn), {
    message,
    offset: 0,
    previous: 0,
    time,
  })
  const after = taskIn(turn)
  const seen = structuredClone(world.seen)

  for (const { to, message: written } of records)
    if (to === 'verdict')
      seen.results.push(...(written as RoundExecuted).results.map(({ status }) => status))
  const isGivenBack =
    message.type === 'outcome' &&
    message.result === null &&
    before?.kind === 'run' &&
    after?.kind !== 'run'
  if (before?.kind !== 'run' && after?.kind === 'run') {
    if (message.type !== 'claim') throw new Error(`${message.type} let a call run`)
    if (time >= expiresAt) throw new Error('a claim after the expiry was accepted')
    seen.mayHaveStarted += 1
  }
  if (isGivenBack) seen.mayHaveStarted -= 1
  check(seen, idempotent)
  if (before?.kind === 'run' && after?.kind === 'run' && before.owner !== after.owner)
    throw new Error('a claim was taken over')
  if (message.type === 'tick' && turn !== undefined && (executor.due(turn) ?? Number.NaN) <= time)
    throw new Error('a tick did not move what was due')
  return { turn, time, seen }
}

function check({ mayHaveStarted, results }: Seen, idempotent: boolean): void {
  if (mayHaveStarted > (idempotent ? policy.toolTries : 1))
    throw new Error(`may have started ${mayHaveStarted} times`)
  if (results.length > 1) throw new Error(`results: ${results}`)
  if (mayHaveStarted > 0 && results[0] === 'skipped')
    throw new Error('skipped, though it may have run')
  if (mayHaveStarted === 0 && results.length > 0 && results[0] !== 'skipped')
    throw new Error(`${results[0]}, though it never ran`)
}

function taskIn(turn: Turn | undefined) {
  return turn && executor.wants(turn)[0]
}

/** Ticks until the unit is closed: every history ends, with one result if the round ever came. */
function ended(world: World, idempotent: boolean): World {
  let next = world
  for (let ticks = 0; next.turn !== undefined; ticks += 1) {
    if (ticks > 10) throw new Error('ticks do not end it')
    next = step(next, tick, Math.max(0, (executor.due(next.turn) ?? 0) - next.time), idempotent)
  }
  return next
}

function roundOf(idempotent: boolean): RoundCleared {
  return roundCleared({ calls: [callOf(0, { name: idempotent ? 'look' : 'mail' })] })
}

function alphabet(idempotent: boolean, tries: number): Given[] {
  const owners = ['a', 'b']
  const ofTry = (number: number) =>
    owners.flatMap((owner): Given[] => [
      claim(owner, { try: number }),
      outcome(owner, ok(), { try: number }),
      outcome(owner, null, { try: number }),
      lapsed(owner, { try: number }),
    ])
  return [
    roundOf(idempotent),
    cancel,
    ...Array.from({ length: tries }, (_, index) => ofTry(index + 1)).flat(),
  ]
}

describe.each([
  ['a call that must not run twice', false],
  ['an idempotent call', true],
])('%s', (_, idempotent) => {
  it('has exactly one result, a true one, in every reachable state', () => {
    const tries = 4
    const records = alphabet(idempotent, tries)
    const visited = new Set<string>()
    const open: World[] = [start]
    for (let world = open.pop(); world !== undefined; world = open.pop()) {
      // A round that comes again after its turn is over is dropped by the runtime's mark, not here.
      if (world.turn === undefined && world.seen.results.length > 0) continue
      // Time is coarse here: it stands still, or moves to the next deadline.
      const due = world.turn && executor.due(world.turn)
      const next = records.map((record) => step(world, record, 0, idempotent))
      if (due !== undefined) next.push(step(world, tick, due - world.time, idempotent))
      for (const reached of next) {
        const name = JSON.stringify(reached)
        if (visited.has(name)) continue
        visited.add(name)
        open.push(reached)
        if ((reached.turn?.roundNewest ?? 0) > 0)
          expect(ended(reached, idempotent).seen.results).toHaveLength(1)
      }
      if (visited.size > 20_000) throw new Error('more states than expected')
    }
    expect(visited.size).toBeGreaterThan(30)
  })

  it('has exactly one result in long histories with time in them', () => {
    const waits = fc.oneof(
      fc.constantFrom(0, 1, policy.startWithinMs, 75_000),
      fc.integer({ min: 0, max: 300_000 }),
    )
    const histories = fc.array(
      fc.tuple(fc.constantFrom<Given>(...alphabet(idempotent, 5), tick, tick), waits),
      { maxLength: 40 },
    )
    fc.assert(
      fc.property(histories, (history) => {
        let world = step(start, roundOf(idempotent), 0, idempotent)
        // Until the turn closes: a round that comes again after that is dropped by the runtime's
        // mark.
        for (const [message, waitMs] of history)
          if (world.turn !== undefined) world = step(world, message, waitMs, idempotent)
        expect(ended(world, idempotent).seen.results).toHaveLength(1)
      }),
      { numRuns: 500 },
    )
  })
})

it('the checker detects a call that started twice', () => {
  expect(() => check({ mayHaveStarted: 2, results: [] }, false)).toThrow('may have started 2 times')
})
