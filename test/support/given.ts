// Tests of reducers: given these records, when this one comes, then expect those. The in-memory
// player folds them as the runtime does, but it encodes and delivers nothing, and throws errors.
// Each step works on a copy of the state, so one history can continue in two ways.

import type { Message } from '../../shared/contract/messages.ts'
import type { Output, Stage } from '../../shared/contract/stage.ts'
import { stages } from '../../shared/contract/topology.ts'
import { createPlayer, type PlayedStage, type Player } from '../../shared/runtime/in-memory.ts'

/**
 * A message and its append time: `at(1000, message)`. Otherwise each record comes one millisecond
 * after the previous one.
 */
export type Timed<M extends Message> = { message: M; time: number }

export function at<M extends Message>(time: number, message: M): Timed<M> {
  return { message, time }
}

export type Folded<State, In extends Message, Task> = {
  /** The state of the unit of the last record; undefined: closed. */
  state: State | undefined
  /** The outputs of the last record. */
  records: Output[]
  /** The outputs of all records. */
  all: Output[]
  /** The messages of `records` that went to a port. */
  to(port: Output['to']): Message[]
  wants: Task[]
  due: number | undefined
  /** Continues with another record. */
  when(record: In | Timed<In>): Folded<State, In, Task>
  /** Continues with a record that threw, by `failed`. */
  whenFails(record: In | Timed<In>, reason?: string): Folded<State, In, Task>
}

/**
 * Folds records into their units in order. The result is about the unit of the last record.
 */
export function given<State, In extends Message, Task>(
  stage: Stage<State, In, Task>,
  ...records: (In | Timed<In>)[]
): Folded<State, In, Task> {
  let folded = after({ stage, run: begin(stage), steps: [], all: [] })
  for (const record of records) folded = folded.when(record)
  return folded
}

type Step<In extends Message> = Timed<In> & { failing: string | undefined }

/** A player with the steps that it has applied. */
type Run<State, Task> = { player: Player; played: PlayedStage<State, Task>; applied: number }

type History<State, In extends Message, Task> = {
  stage: Stage<State, In, Task>
  run: Run<State, Task>
  steps: Step<In>[]
  all: Output[]
}

function begin<State, In extends Message, Task>(stage: Stage<State, In, Task>): Run<State, Task> {
  const player = createPlayer({ delivers: false })
  const played = player.add<State, In, Task>({
    ...stage,
    react: (state, received) => stage.react(structuredClone(state), received),
    failed: (state, received, reason) => stage.failed(structuredClone(state), received, reason),
  })
  return { player, played, applied: 0 }
}

/** The history after its last step. Repeats a run that another history has continued. */
function after<State, In extends Message, Task>(
  history: History<State, In, Task>,
): Folded<State, In, Task> {
  const { stage, steps, run } = history
  const records: Output[] = []
  for (const { message, time, failing } of steps.slice(run.applied)) {
    run.player.append(stages[stage.name].inbox, message, { time, failing })
    run.applied += 1
    records.splice(0, records.length, ...run.player.settleNow())
  }
  const all = [...history.all, ...records]
  const state = stateAfter(history)
  const next = (given: In | Timed<In>, failing?: string) => {
    const timed =
      'message' in given ? given : { message: given, time: (steps.at(-1)?.time ?? 0) + 1 }
    return after({
      stage,
      all,
      steps: [...steps, { ...timed, failing }],
      run: run.applied === steps.length ? run : begin(stage),
    })
  }
  return {
    state,
    records,
    all,
    to: (port) => records.filter((record) => record.to === port).map((record) => record.message),
    wants: state === undefined ? [] : stage.wants(state),
    due: state === undefined ? undefined : stage.due(state),
    when: (record) => next(record),
    whenFails: (record, reason = 'it threw') => next(record, reason),
  }
}

/** The state of the last step's unit. */
function stateAfter<State, In extends Message, Task>({
  stage,
  run,
  steps,
}: History<State, In, Task>): State | undefined {
  const message = steps.at(-1)?.message
  if (message === undefined) return undefined
  return run.played.units.get(message.type === 'tick' ? message.unit : stage.unit(message))?.state
}
