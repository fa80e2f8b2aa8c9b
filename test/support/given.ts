// Reducers as sentences: given these records, when this one, then those. It folds as the runtime
// does where a reducer could notice: `previous` is kept, a unit's time never goes back, and a tick
// reaches `react` only for an open unit at a time >= due. Kinder than the runtime: nothing is
// encoded, nothing is repeated, and what throws is thrown. Each step works on a copy of the state,
// so that one history can go on in two ways.

import type { Message } from '../../shared/contract/messages.ts'
import type { Output, Received, Stage } from '../../shared/contract/stage.ts'

/**
 * A message, and when it was appended: `at(1000, message)`; without, each record comes one
 * millisecond after the one before.
 */
export type Timed<M extends Message> = { message: M; time: number }

export function at<M extends Message>(time: number, message: M): Timed<M> {
  return { message, time }
}

export type Folded<State, In extends Message, Task> = {
  /** The state of the unit of the last record; undefined: closed. */
  state: State | undefined
  /** What the last record led to. */
  records: Output[]
  /** What all records together led to. */
  all: Output[]
  /** The messages of `records` that went to a port. */
  to(port: Output['to']): Message[]
  wants: Task[]
  due: number | undefined
  /** Goes on with a further record. */
  when(record: In | Timed<In>): Folded<State, In, Task>
  /** What `failed` makes of a record that threw. */
  whenFails(record: In | Timed<In>, reason?: string): Folded<State, In, Task>
}

/**
 * Folds records into their units from offset `from` on, in order, and answers for the unit of the
 * last one.
 */
export function given<State, In extends Message, Task>(
  stage: Stage<State, In, Task>,
  ...records: (In | Timed<In>)[]
): Folded<State, In, Task> {
  let folded = start(stage)
  for (const record of records) folded = folded.when(record)
  return folded
}

type Unit<State> = { state: State; last: number; time: number }

function start<State, In extends Message, Task>(
  stage: Stage<State, In, Task>,
): Folded<State, In, Task> {
  return after(stage, new Map(), 0, 0, '', [], [])
}

function after<State, In extends Message, Task>(
  stage: Stage<State, In, Task>,
  units: Map<string, Unit<State>>,
  offset: number,
  time: number,
  key: string,
  records: Output[],
  all: Output[],
): Folded<State, In, Task> {
  const state = units.get(key)?.state
  const step = (
    given: In | Timed<In>,
    react: (
      state: State | undefined,
      record: Received<In>,
    ) => { state?: State | undefined; records?: Output[] },
  ) => {
    const timed: Timed<In> = 'message' in given ? given : { message: given, time: time + 1 }
    const unitKey = timed.message.type === 'tick' ? timed.message.unit : stage.unit(timed.message)
    const unit = units.get(unitKey)
    const unitTime =
      timed.message.type === 'carried' ? timed.time : Math.max(timed.time, unit?.time ?? 0)
    const due = unit && stage.due(unit.state)
    if (
      timed.message.type === 'tick' &&
      (unit === undefined || due === undefined || unitTime < due)
    ) {
      const moved =
        unit === undefined ? units : new Map(units).set(unitKey, { ...unit, last: offset })
      return after(stage, moved, offset + 1, timed.time, unitKey, [], all)
    }
    const reaction = react(structuredClone(unit?.state), {
      message: timed.message,
      offset,
      previous: unit?.last,
      time: unitTime,
    })
    const next = new Map(units)
    if (reaction.state === undefined) next.delete(unitKey)
    else next.set(unitKey, { state: reaction.state, last: offset, time: unitTime })
    const written = reaction.records ?? []
    return after(stage, next, offset + 1, timed.time, unitKey, written, [...all, ...written])
  }
  return {
    state,
    records,
    all,
    to: (port) => records.filter((record) => record.to === port).map((record) => record.message),
    wants: state === undefined ? [] : stage.wants(state),
    due: state === undefined ? undefined : stage.due(state),
    when: (record) => step(record, (state, received) => stage.react(state, received)),
    whenFails: (record, reason = 'it threw') =>
      step(record, (state, received) => stage.failed(state, received, reason)),
  }
}
