// The liveness and readiness of this process, with reasons. It is ready when each stage and guard
// is a member of its group and has caught up in its partitions, and this machine's clock is near the
// brokers'. A later backlog only shows in metrics.

import type { Subscription } from '../../shared/contract/bus.ts'
import { limits } from '../../shared/contract/limits.ts'
import type { Milliseconds } from '../../shared/lib/clock.ts'
import type { LogClock } from './log-clock.ts'
import type { ReaderName, ReadPartition, ReadPartitions } from './read-partitions.ts'

/** The phase of the whole process. */
export type Phase = 'starting' | 'running' | 'stopping'

/** `partitions`: the progress of each, by number. */
export type StageHealth = {
  ready: boolean
  joined: boolean
  partitions: Record<string, string>
  why: string[]
}

/**
 * The JSON of /readyz. `why`: a sentence for each reason not to be ready. `notes`: facts that do not
 * prevent readiness. A guard is among the stages, as `guard.NAME`.
 */
export type Readiness = {
  ready: boolean
  phase: Phase
  why: string[]
  notes?: string[]
  stages: Partial<Record<ReaderName, StageHealth>>
}

/** The JSON of /livez. */
export type Liveness = { live: boolean; why: string[] }

type Watched = Pick<Subscription, 'joined' | 'damaged' | 'unready'>

export type Health = {
  readonly damaged: ReadonlyMap<ReaderName, number>
  readonly live: Liveness
  readonly ready: Readiness
  /** The stages run from now on. */
  started(subscriptions: ReadonlyMap<ReaderName, Watched>): void
  /** The process is stopping: it is not ready from now on. */
  stopping(): void
  /** A stage cannot go on. Both pages show `reason`. */
  failed(stage: ReaderName, reason: string): void
  /** Sets the note of a stage. Undefined: removes it. */
  noted(stage: ReaderName, text: string | undefined): void
  /** Sets a missing need of a stage, which makes it unready. Undefined: it is back. */
  missed(stage: ReaderName, need: string | undefined): void
}

export function createHealth(
  names: readonly ReaderName[],
  partitions: Pick<ReadPartitions, 'all'>,
  skewMs: LogClock['skewMs'] = () => undefined,
): Health {
  const failures = new Map<ReaderName, string>()
  const notes = new Map<ReaderName, string | undefined>()
  const missing = new Map<ReaderName, string | undefined>()
  let subscriptions: ReadonlyMap<ReaderName, Watched> = new Map()
  let phase: Phase = 'starting'

  function stageHealth(name: ReaderName): StageHealth {
    const joined = subscriptions.get(name)?.joined ?? false
    const read = [...partitions.all]
      .filter(({ stage }) => stage === name)
      .sort((a, b) => a.partition - b.partition)
    const failure = failures.get(name)
    const why: string[] = []
    if (failure !== undefined) why.push(`${name} cannot go on: ${failure}`)
    else if (!joined)
      why.push(
        `${name} has not joined its group ${phase === 'starting' ? 'yet' : 'or its partitions are changing'}`,
      )
    const unready = subscriptions.get(name)?.unready
    if (unready !== undefined) why.push(`${name}: ${unready}`)
    for (const [partition, reason] of subscriptions.get(name)?.damaged ?? [])
      why.push(`${name} does not read partition ${partition}: ${reason}`)
    const away = missing.get(name)
    if (away !== undefined) why.push(`${name}: ${away}`)
    for (const one of read)
      if (!one.hasCaughtUp())
        why.push(
          `${name} has not caught up in partition ${one.partition}: it is ${progressOf(one)}`,
        )
    return {
      ready: why.length === 0,
      joined,
      partitions: Object.fromEntries(read.map((one) => [one.partition, progressOf(one)])),
      why,
    }
  }

  return {
    get damaged() {
      return new Map(names.map((name) => [name, subscriptions.get(name)?.damaged?.size ?? 0]))
    },
    get live() {
      const why = [...failures].map(([name, reason]) => `${name} cannot go on: ${reason}`)
      return { live: why.length === 0, why }
    },
    get ready() {
      const stages = Object.fromEntries(names.map((name) => [name, stageHealth(name)]))
      const why = Object.values(stages).flatMap((stage) => stage.why)
      why.push(...clockFault(skewMs()))
      if (phase === 'stopping') why.unshift('this process is stopping')
      const shown = [...notes].flatMap(([name, text]) =>
        text === undefined ? [] : [`${name}: ${text}`],
      )
      return {
        ready: why.length === 0,
        phase,
        why,
        ...(shown.length > 0 && { notes: shown }),
        stages,
      }
    },
    started(given) {
      subscriptions = given
      if (phase === 'starting') phase = 'running'
    },
    stopping() {
      phase = 'stopping'
    },
    failed: (stage, reason) => failures.set(stage, reason),
    noted: (stage, text) => notes.set(stage, text),
    missed: (stage, need) => missing.set(stage, need),
  }
}

/** Turns go on with a wrong clock, but the logs and the tools of this machine show wrong times. */
function clockFault(skewMs: Milliseconds | undefined): string[] {
  if (skewMs === undefined || Math.abs(skewMs) <= limits.clockSkewMaxMs) return []
  const seconds = Math.round(Math.abs(skewMs) / 1000)
  const where = skewMs < 0 ? 'ahead of' : 'behind'
  return [`this machine's clock is ${seconds} s ${where} the brokers': set it by NTP`]
}

function progressOf({ hasCaughtUp, position, end }: ReadPartition): string {
  return hasCaughtUp() ? 'caught up' : `at ${position} of ${end}`
}
