// GUEST-4 for whole logs: at every point where an owner may commit, a fold from the oldest open unit
// gives the state of the full fold. No round is proposed twice under one number.
// The tests try all short logs of two guests, then random long ones. A variant that omits a rule
// must fail.

import { isDeepStrictEqual } from 'node:util'
import { describe, expect, it } from '@jest/globals'
import fc from 'fast-check'
import { type Guest, guest } from '../../../services/guest/reducer.ts'
import type {
  GuestCarried,
  GuestResults,
  GuestRound,
  RoundOutcome,
  Tick,
  TurnFailed,
} from '../../../shared/contract/messages.ts'
import { all, outcome, request, results, round, turnFailed } from './samples.ts'

type In = GuestRound | GuestResults | RoundOutcome | TurnFailed | GuestCarried | Tick

/**
 * `checked`: all rules. `last`: a record that changes nothing does not move the unit's last offset.
 * `two`: a turn that ends writes a `guest-carried` although one is in flight.
 */
type Variant = 'checked' | 'last' | 'two'
type Unit = { first: number; last: number; state: Guest }
type Entry = { message: In; time: number }
type World = {
  log: Entry[]
  units: Map<string, Unit>
  inFlight: GuestCarried[]
  proposed: string[]
}

const start: World = { log: [], units: new Map(), inFlight: [], proposed: [] }

function step(variant: Variant, unit: Unit | undefined, { message, time }: Entry, at: number) {
  if (message.type === 'tick') {
    const due = unit && guest.due(unit.state)
    if (unit === undefined || due === undefined || time < due)
      return { unit: unit && { ...unit, last: at }, records: [] }
  }
  const received = { message, offset: at, previous: unit?.last, time }
  const before = structuredClone(unit?.state)
  if (variant === 'two' && before !== undefined) before.carrying = false
  const reaction = guest.react(before, received)
  const { state, records = [], anew } = reaction
  if (state === undefined) return { unit: undefined, records }
  if (
    variant === 'last' &&
    message.type !== 'guest-carried' &&
    isDeepStrictEqual(state, unit?.state)
  )
    return { unit, records }
  const first = unit === undefined || anew === true ? at : unit.first
  return { unit: { first, last: at, state }, records }
}

function fold(variant: Variant, log: Entry[], from: number): Map<string, Unit> {
  const units = new Map<string, Unit>()
  for (const [at, entry] of log.entries())
    if (at >= from) put(units, entry, step(variant, units.get(idOf(entry)), entry, at).unit)
  return units
}

function append(variant: Variant, world: World, entry: Entry): World {
  const units = new Map(world.units)
  const before = units.get(idOf(entry))
  const { unit, records } = step(variant, before, entry, world.log.length)
  put(units, entry, unit)
  const carried = all(records, 'guest-carried')
  return {
    log: [...world.log, entry],
    units,
    inFlight: [...world.inFlight.filter((one) => one !== entry.message), ...carried],
    proposed: [
      ...world.proposed,
      ...all(records, 'round-proposed').map(
        ({ conversation, turn, response }) => `${conversation} ${turn} ${response.attempt}`,
      ),
    ],
  }
}

function idOf({ message }: Entry): string {
  return message.conversation
}

function put(units: Map<string, Unit>, entry: Entry, unit: Unit | undefined): void {
  if (unit === undefined) units.delete(idOf(entry))
  else units.set(idOf(entry), unit)
}

/** Every record that may be appended next. */
function nextOf({ log, units, inFlight }: World, conversations: string[]): Entry[] {
  const time = (log.at(-1)?.time ?? 0) + 1
  return conversations.flatMap((conversation) => {
    const of = { conversation }
    const unit = units.get(conversation)
    const turn = unit?.state.turn
    const next: Entry[] = [
      { message: request('x', ['a.1'], { ...of, turnKey: 'x' }), time },
      { message: request('y', [], { ...of, turnKey: 'y' }), time },
      { message: round('a.1', { ...of, turnKey: 'x' }), time },
      { message: results('running', of), time },
    ]
    const landing = inFlight.find((one) => one.conversation === conversation)
    if (landing !== undefined) next.push({ message: landing, time })
    const { outstanding } = turn ?? {}
    if (turn !== undefined && outstanding !== undefined) {
      const reply = outcome(turn.turn, outstanding.round, { text: 'Done.', calls: [] })
      next.push({ message: { ...reply, ...of }, time })
      next.push({ message: { ...outcome(turn.turn, outstanding.round), ...of }, time })
    }
    const due = unit && guest.due(unit.state)
    if (due !== undefined) {
      const tick: Tick = { type: 'tick', conversation, unit: conversation }
      next.push({ message: tick, time: Math.max(time, due) }, { message: tick, time })
    }
    return next
  })
}

/** More records of the same kinds, omitted in the search of all logs. */
function furtherOf({ log, units }: World, conversations: string[]): Entry[] {
  const time = (log.at(-1)?.time ?? 0) + 1
  return conversations.flatMap((conversation) => {
    const of = { conversation }
    const turn = units.get(conversation)?.state.turn?.turn ?? null
    return [
      { message: round('b.1', { ...of, turnKey: 'y', hides: true }), time },
      { message: results('turn_end', { ...of, turnKey: 'y' }), time },
      { message: { ...turnFailed(turn), ...of }, time },
      { message: request('z', ['a.1', 'b.1'], { ...of, turnKey: 'z' }), time: time + 90_000_000 },
    ]
  })
}

function faultIn(variant: Variant, { log, units, inFlight, proposed }: World): string | undefined {
  const low = Math.min(log.length, ...[...units.values()].map(({ first }) => first))
  if (!isDeepStrictEqual(fold(variant, log, low), units)) return `from ${low} the fold differs`
  if (new Set(proposed).size < proposed.length) return `proposed twice: ${proposed.join(', ')}`
  const flying = inFlight.map(({ conversation }) => conversation)
  if (new Set(flying).size < flying.length) return 'two guest-carried are in flight'
  return undefined
}

function printed({ log }: World): string {
  return log
    .map(({ message, time }, at) => `${at} ${message.conversation} ${message.type} at ${time}`)
    .join('\n')
}

const ids = ['guest:a', 'guest:b']

function search(variant: Variant, length: number): { logs: number; wrong: string | undefined } {
  let worlds = [start]
  let logs = 0
  for (let n = 0; n <= length; n++) {
    for (const world of worlds) {
      logs++
      const wrong = faultIn(variant, world)
      if (wrong !== undefined) return { logs, wrong: `${wrong}\n${printed(world)}` }
    }
    if (n < length)
      worlds = worlds.flatMap((world) =>
        nextOf(world, n === 0 ? ids.slice(0, 1) : ids).map((entry) =>
          append(variant, world, entry),
        ),
      )
  }
  return { logs, wrong: undefined }
}

describe('all short logs of two guests', () => {
  it('give the same from the oldest open unit as the full fold', () => {
    const { logs, wrong } = search('checked', 4)
    expect(wrong).toBeUndefined()
    expect(logs).toBeGreaterThan(1_000)
  })
})

describe('long logs of two guests', () => {
  const choices = fc.array(fc.nat(), { minLength: 60, maxLength: 60 })

  function wrongIn(variant: Variant, picks: number[]): string | undefined {
    let world = start
    for (const pick of picks) {
      const next = [...nextOf(world, ids), ...(pick % 2 === 0 ? furtherOf(world, ids) : [])]
      world = append(variant, world, next[Math.floor(pick / 2) % next.length] as Entry)
      const wrong = faultIn(variant, world)
      if (wrong !== undefined) return `${wrong}\n${printed(world)}`
    }
    return undefined
  }

  it('give the same from the oldest open unit as the full fold, at each end', () => {
    fc.assert(
      fc.property(choices, (picks) => {
        const wrong = wrongIn('checked', picks)
        if (wrong !== undefined) throw new Error(wrong)
      }),
      { numRuns: 40 },
    )
  })

  it('reveal that a turn must not end with a second guest-carried in flight', () => {
    const found = fc.check(
      fc.property(choices, (picks) => wrongIn('two', picks) === undefined),
      { numRuns: 40, endOnFailure: true },
    )
    expect(found.failed).toBe(true)
  })

  it.each<[Variant, boolean]>([
    ['checked', false],
    ['last', true],
  ])('need each record to move the last offset of its unit (%s)', (variant, isWrong) => {
    const a = { conversation: 'guest:a', turnKey: 'x' }
    const reply = { ...outcome(0, 1, { text: 'Done.', calls: [] }), conversation: a.conversation }
    let world = start
    const add = (message: In) => {
      world = append(variant, world, { message, time: world.log.length })
    }
    for (const message of [request('1', [], a), round('t.1', { ...a, text: 'Done.' }), reply])
      add(message)
    add(request('2', ['t.1'], a))
    add(world.inFlight[0] as In) // does not count, and is written again
    add(request('3', [], { conversation: 'guest:b' }))
    add(request('4', ['t.1'], a)) // changes nothing
    add(world.inFlight[0] as In)
    expect(faultIn(variant, world) !== undefined).toBe(isWrong)
  })
})
