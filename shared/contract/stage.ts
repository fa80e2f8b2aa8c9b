// The contract of a stage (R2): a pure function from a state and a record to a state and more
// records. The runtime does the rest: reading, committing, timing, restoring, and asking a
// performer for the effects that an open unit wants.

import type { Milliseconds } from '../lib/clock.ts'
import type { Message } from './messages.ts'
import type { Port, StageName } from './topology.ts'

/**
 * A record as a reducer sees it. `time` is append time, and for one unit it never goes back.
 * `offset` is its place in the stage's inbox, `previous` that of the unit's record before it,
 * whatever that did; undefined when the unit is not open.
 */
export type Received<M extends Message> = {
  message: M
  offset: number
  previous: number | undefined
  time: Milliseconds
}

/**
 * A record as a reducer wants it written. Which topic a port means says
 * shared/contract/topology.ts.
 */
export type Output = { to: Port; message: Message }

/**
 * No `state`: the unit is closed, or stays closed. `records` are written in this order. `anew`: the
 * new state depends on no record before this one, so folding may begin here from now on (R1: only a
 * `carried` that counts says so).
 */
export type Reaction<State> = { state?: State | undefined; records?: Output[]; anew?: boolean }

export type Stage<State, In extends Message, Task = never> = {
  readonly name: StageName
  /**
   * The unit that a record concerns; '' when the stage keeps no state. A tick names its unit
   * itself, so this is not asked.
   */
  unit(message: In): string
  /**
   * Whether this record begins its unit anew: the unit's time is then the record's, because a fold
   * that begins here knows no earlier one (R1). Left out: no record does.
   */
  beginsAnew?(message: In): boolean
  /**
   * No clock, randomness, I/O or module state. It owns `state` and may change it in place; nobody
   * else holds a reference. `state` is undefined when the unit is not open: then answering with a
   * state opens it, and anything else drops the record. If it throws, the runtime folds the unit
   * again up to the record before and calls `failed`.
   */
  react(state: State | undefined, record: Received<In>): Reaction<State>
  /**
   * All that this unit wants done in the world now; a performer starts what is missing and stops
   * what is no longer in the list. Pure.
   */
  wants(state: State): Task[]
  /**
   * When to look at this unit again though nothing came; a tick at or after this time must move it
   * or close the unit. Undefined: never.
   */
  due(state: State): Milliseconds | undefined
  /**
   * What becomes of the unit when `react` threw on `record`; the runtime tells the conversation
   * (turn-failed) by itself. Must not throw.
   */
  failed(state: State | undefined, record: Received<In>, reason: string): Reaction<State>
}

/** The unit is over, or the record meant nothing to a unit that is not open. */
export const closed: Reaction<never> = {}

/**
 * The compiler finds the branch that was forgotten; at run time an unknown message is an error,
 * never silence.
 */
export function unreachable(value: never): never {
  throw new Error(`unreachable: ${JSON.stringify(value)?.slice(0, 200)}`)
}
