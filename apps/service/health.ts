// Whether this process lives and whether it is ready, with the reasons. Ready: each of its stages
// and guards is a member of its group, and has caught up in every partition that the group gave it,
// perhaps none. A later backlog is a matter of metrics: it makes nobody unready.

import type { Subscription } from '../../shared/contract/bus.ts'
import type { ReaderName, ReadPartition, ReadPartitions } from './read-partitions.ts'

/** What the whole process does now. */
export type Phase = 'starting' | 'running' | 'stopping'

/** `partitions`: by number, how far each is. */
export type StageHealth = {
  ready: boolean
  joined: boolean
  partitions: Record<string, string>
  why: string[]
}

/**
 * The JSON of /readyz; `why`: all that is missing, a sentence each; `notes`: what should be known
 * and keeps nothing from being ready. A guard stands among the stages, as `guard.NAME`.
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

export type Health = {
  readonly live: Liveness
  readonly ready: Readiness
  /** The stages run from now on. */
  started(subscriptions: ReadonlyMap<ReaderName, Pick<Subscription, 'joined'>>): void
  /** No more of it is wanted: it is not ready from now on. */
  stopping(): void
  /** A stage cannot go on. `reason` is shown. */
  failed(stage: ReaderName, reason: string): void
  /** What should be known of it; undefined: nothing any more. */
  noted(stage: ReaderName, text: string | undefined): void
  /** What it needs of others is away, so it is not ready; undefined: it is there again. */
  missed(stage: ReaderName, what: string | undefined): void
}

export function createHealth(
  names: readonly ReaderName[],
  partitions: Pick<ReadPartitions, 'all'>,
): Health {
  const failures = new Map<ReaderName, string>()
  const notes = new Map<ReaderName, string | undefined>()
  const missing = new Map<ReaderName, string | undefined>()
  let subscriptions: ReadonlyMap<ReaderName, Pick<Subscription, 'joined'>> = new Map()
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
        `${name} has not joined its group ${phase === 'starting' ? 'yet' : 'or is being given other partitions'}`,
      )
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
    get live() {
      const why = [...failures].map(([name, reason]) => `${name} cannot go on: ${reason}`)
      return { live: why.length === 0, why }
    },
    get ready() {
      const stages = Object.fromEntries(names.map((name) => [name, stageHealth(name)]))
      const why = Object.values(stages).flatMap((stage) => stage.why)
      if (phase === 'stopping') why.unshift('this process is stopping')
      const said = [...notes].flatMap(([name, text]) =>
        text === undefined ? [] : [`${name}: ${text}`],
      )
      return {
        ready: why.length === 0,
        phase,
        why,
        ...(said.length > 0 && { notes: said }),
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
    missed: (stage, what) => missing.set(stage, what),
  }
}

function progressOf({ hasCaughtUp, position, end }: ReadPartition): string {
  return hasCaughtUp() ? 'caught up' : `at ${position} of ${end}`
}
