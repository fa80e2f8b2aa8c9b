// Tests of reducers: given these records, when this one comes, then expect those. The in-memory
// player folds them as the runtime does, but it encodes and delivers nothing, and throws errors.
// A reducer may change the state that it gets. So a history is folded again if it continues in a second
// way, or if a test reads its state after it has continued.

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
  return { player, played: player.add(stage), applied: 0 }
}

/** The history after its last step. Repeats a run that another history has continued. */
function after<State, In extends Message, Task>(
  history: History<State, In, Task>,
): Folded<State, In, Task> {
  const { stage, steps, run } = history
  const records = applyTo(run, history)
  const all = [...history.all, ...records]
  let state: { value: State | undefined } | undefined
  const stateNow = () => {
    state ??= { value: stateAfter(history) }
    return state.value
  }
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
    get state() {
      return stateNow()
    },
    records,
    all,
    to: (port) => records.filter((record) => record.to === port).map((record) => record.message),
    get wants() {
      const now = stateNow()
      return now === undefined ? [] : stage.wants(now)
    },
    get due() {
      const now = stateNow()
      return now === undefined ? undefined : stage.due(now)
    },
    when: (record) => next(record),
    whenFails: (record, reason = 'it threw') => next(record, reason),
  }
}

/** Applies the steps that the run has not applied. Returns the outputs of the last one. */
function applyTo<State, In extends Message, Task>(
  run: Run<State, Task>,
  { stage, steps }: History<State, In, Task>,
): Output[] {
  const records: Output[] = []
  for (const { message, time, failing } of steps.slice(run.applied)) {
    run.player.append(stages[stage.name].inbox, message, { time, failing })
    run.applied += 1
    records.splice(0, records.length, ...run.player.settleNow())
  }
  return records
}

/** A copy of the state of the last step's unit. */
function stateAfter<State, In extends Message, Task>(
  history: History<State, In, Task>,
): State | undefined {
  const { stage, steps } = history
  const message = steps.at(-1)?.message
  if (message === undefined) return undefined
  let { run } = history
  if (run.applied !== steps.length) {
    run = begin(stage)
    applyTo(run, history)
  }
  const unit = message.type === 'tick' ? message.unit : stage.unit(message)
  return structuredClone(run.played.units.get(unit)?.state)
}
