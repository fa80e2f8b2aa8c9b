// The calls of a performer's tasks that an operator's stop concerns. Part of the performer.
// At `drain` these are the calls that have not started, at `now` also those that
// run. The reducer judges each one again, because the log may be further (R4).

import type { CallsStopped, StopInForce } from '../../../shared/contract/messages.ts'
import type { PerformerContext, PolicyRecord } from '../../../shared/contract/performer.ts'
import { stopId } from '../../../shared/contract/topology.ts'
import type { Clock } from '../../../shared/lib/clock.ts'
import { createStopWatch } from '../../../shared/runtime/settings/stop-watch.ts'
import { stopOfCall } from '../../../shared/runtime/settings/stops.ts'
import { stopsInForce } from '../../../shared/runtime/settings/stops-in-force.ts'
import type { ExecutorTask } from '../tasks.ts'
import type { Writes } from './writes.ts'

type WatchOptions = { context: PerformerContext; clock: Clock; writes: Writes }

/** Watches the stops while a unit has tasks, and reports the calls that they concern. */
export function watchStops({ context, clock, writes: { write, track } }: WatchOptions) {
  /** The newest tasks of each unit. */
  const wanted = new Map<string, ExecutorTask[]>()
  const watch = createStopWatch({
    context,
    clock,
    hasWork: () => wanted.size > 0,
    found(records) {
      const stopped = [...wanted.values()].flatMap((tasks) => callsStoppedBy(records, tasks))
      if (stopped.length === 0) return
      const written = write('self', stopped)
      track(written)
      return written
    },
  })

  return {
    want(unit: string, tasks: ExecutorTask[]): void {
      if (tasks.length === 0) wanted.delete(unit)
      else wanted.set(unit, tasks)
      watch.begin()
    },
    close: watch.close,
  }
}

/** `tasks`: of one unit. One record for each round and stop. */
export function callsStoppedBy(
  records: readonly PolicyRecord[],
  tasks: readonly ExecutorTask[],
): CallsStopped[] {
  const stopped = new Map<string, CallsStopped>()
  for (const task of tasks) {
    if (task.kind === 'hash-programs') continue
    const stops = stopsInForce(records, task)
    if (typeof stops === 'string') continue // nothing starts, and running tools go on
    for (const { ordinal, tool, isClaimed } of callsOf(task)) {
      const stop = stopOfCall(stops, tool)
      if (stop !== undefined && (!isClaimed || stop.mode === 'now'))
        add(stopped, task, ordinal, stop)
    }
  }
  return [...stopped.values()]
}

function callsOf(
  task: Exclude<ExecutorTask, { kind: 'hash-programs' }>,
): { ordinal: number; tool: string; isClaimed: boolean }[] {
  switch (task.kind) {
    case 'await-verdict':
      return task.calls.map((call) => ({ ...call, isClaimed: false }))
    case 'offer':
      return [{ ordinal: task.ordinal, tool: task.declaration.name, isClaimed: task.isOffered }]
    case 'claim':
      return [{ ordinal: task.ordinal, tool: task.tool, isClaimed: false }]
    case 'run':
      // A cancelled call is being stopped already.
      return task.cancelled
        ? []
        : [{ ordinal: task.ordinal, tool: task.declaration.name, isClaimed: true }]
  }
}

function add(
  stopped: Map<string, CallsStopped>,
  { conversation, turn, round }: Pick<CallsStopped, 'conversation' | 'turn' | 'round'>,
  ordinal: number,
  stop: StopInForce,
): void {
  const key = `${round} ${stopId(stop)}`
  const known = stopped.get(key)
  if (known === undefined)
    stopped.set(key, {
      type: 'calls-stopped',
      conversation,
      turn,
      round,
      ordinals: [ordinal],
      stop,
    })
  else if (!known.ordinals.includes(ordinal)) known.ordinals.push(ordinal)
}
