// The contract of a stage (R2): a pure function from a state and a record to a state and more
// records. The runtime does the rest: reading, committing, timing, restoring, and requesting the
// effects of an open unit from a performer.

import type { Milliseconds } from '../lib/clock.ts'
import type { Message } from './messages.ts'
import type { Port, StageName } from './topology.ts'

/**
 * A record as a reducer reads it. `time` is append time and never decreases for one unit. `offset`
 * is its position in the stage's inbox. `previous` is the offset of the unit's record before it, or
 * undefined if the unit is not open.
 */
export type Received<M extends Message> = {
  message: M
  offset: number
  previous: number | undefined
  time: Milliseconds
}

/** A record for a reducer to write. shared/contract/topology.ts maps ports to topics. */
export type Output = { to: Port; message: Message }

/**
 * No `state`: the unit is closed, or stays closed. `records` are written in this order. `anew`: the
 * new state depends on no earlier record, so folding may begin here (R1: only a counted `carried`
 * sets it).
 */
export type Reaction<State> = { state?: State | undefined; records?: Output[]; anew?: boolean }

export type Stage<State, In extends Message, Task = never> = {
  readonly name: StageName
  /**
   * The unit of a record. '' if the stage keeps no state. A tick names its unit, so this is not
   * called for one.
   */
  unit(message: In): string
  /**
   * Whether this record begins its unit anew: the unit's time is then the record's, because a fold
   * that begins here knows no earlier one (R1). Left out: no record does.
   */
  beginsAnew?(message: In): boolean
  /**
   * No clock, randomness, I/O or module state. It owns `state` and may change it in place. `state`
   * is undefined if the unit is not open: then returning a state opens the unit, and any other
   * result drops the record. If it throws, the runtime folds the unit again up to the previous
   * record and calls `failed`.
   */
  react(state: State | undefined, record: Received<In>): Reaction<State>
  /**
   * All effects that this unit needs now. A performer starts missing ones and stops those that are
   * no longer in the list. Pure.
   */
  wants(state: State): Task[]
  /**
   * The performer may act before the outputs of a step are acknowledged. The next owner derives the same
   * outputs, and the performer waits before it writes to their topics. Absent: false.
   */
  readonly actsAhead?: boolean
  /**
   * The time of the unit's next tick if no record comes. A tick at or after this time must change
   * it or close the unit. Undefined: never.
   */
  due(state: State): Milliseconds | undefined
  /**
   * The result for the unit when `react` threw on `record`. The runtime emits turn-failed itself.
   * Must not throw.
   */
  failed(state: State | undefined, record: Received<In>, reason: string): Reaction<State>
}

/** The unit is closed, or the record has no effect on a closed unit. */
export const closed: Reaction<never> = {}

/**
 * The compiler finds a missing branch. At run time an unknown message is an error and is never
 * ignored.
 */
export function unreachable(value: never): never {
  throw new Error(`unreachable: ${JSON.stringify(value)?.slice(0, 200)}`)
}
