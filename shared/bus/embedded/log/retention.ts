// When retention runs, and which records it must keep; trim.ts deletes. It runs a minute after the
// start and then every hour, a stretch at a time. A process that ends earlier runs it at its end:
// otherwise a file that is only used for moments would grow for ever.
// A log loses records older than its retentionMs, but none that a group may still have to fold. Such
// a group reads in this process, or its last commit is at most retentionMs older than the newest
// record. So a long stop of everything loses nothing. A table loses replaced records and tombstones
// older than its retentionMs, or than a day.

import type { Commit, Offset, TopicSpec } from '../../../contract/bus.ts'
import type { Clock, Milliseconds } from '../../../lib/clock.ts'
import type { Subscriptions } from '../group/subscriptions.ts'
import type { Log } from './log.ts'
import type { PartitionName } from './log-partition.ts'

const firstAfterMs = 60_000
const everyMs = 3_600_000
/** How long the last run may take: the user waits for the process to end. */
const atEndMs = 100
/**
 * A reader of a table that is behind by more than this may miss that a key was deleted; Kafka's
 * delete.retention.ms has the same value.
 */
const tableReplacedKeptMs = 24 * 3_600_000

export type RetentionOptions = {
  log: Log
  clock: Clock
  subscriptions: Pick<Subscriptions, 'neededFrom'>
  keepFrom: (commit: Commit) => Offset
  /** Deleting failed. The next run is in an hour. */
  failed: (error: unknown) => void
}

/** Starts retention. `stop` resolves when it no longer touches the log. */
export function startRetention({ log, clock, subscriptions, keepFrom, failed }: RetentionOptions): {
  stop(): Promise<void>
} {
  let stopped = false
  let hasRun = false
  let running: Promise<void> = Promise.resolve()
  let cancelNext = clock.after(firstAfterMs, run)

  function run(): void {
    cancelNext = clock.after(everyMs, run)
    hasRun = true
    running = running.then(() => trimAll(() => stopped)).catch(failed)
  }

  /** Logs first: they grow with every record, tables with every key. */
  async function trimAll(isOver: () => boolean): Promise<void> {
    for (const topic of log.topics().toSorted((a, b) => a.kind.localeCompare(b.kind))) {
      const maxAgeMs =
        topic.retentionMs ?? (topic.kind === 'table' ? tableReplacedKeptMs : undefined)
      if (maxAgeMs === undefined) continue
      for (const { partition, begin } of log.ends(topic.name)) {
        const [oldest] = log.read({ topic: topic.name, partition, from: begin, limit: 1 })
        if (oldest === undefined || oldest.time >= oldestKept(maxAgeMs)) continue // nothing of it is old
        let from: Offset | undefined = topic.kind === 'log' ? begin : 0
        while (from !== undefined && !isOver()) {
          from = trimOnce(topic, { partition, from, maxAgeMs })
          await new Promise((resolve) => setImmediate(resolve))
        }
      }
    }
  }

  function trimOnce(
    { name }: TopicSpec,
    { partition, from, maxAgeMs }: { partition: number; from: Offset; maxAgeMs: Milliseconds },
  ): Offset | undefined {
    const place = { topic: name, partition }
    return log.trim({
      ...place,
      from,
      keepFrom: neededFrom(place, maxAgeMs),
      olderThan: oldestKept(maxAgeMs),
    })
  }

  function oldestKept(maxAgeMs: Milliseconds): Milliseconds {
    return Math.max(log.timeNewest, clock.now()) - maxAgeMs
  }

  function neededFrom(place: PartitionName, maxAgeMs: Milliseconds): Offset {
    const { offset, groups } = subscriptions.neededFrom(place)
    const alive = log
      .commitsOf(place)
      .filter(({ group, time }) => !groups.has(group) && time >= log.timeNewest - maxAgeMs)
    return Math.min(offset, ...alive.map(keepFrom))
  }

  return {
    async stop() {
      stopped = true
      cancelNext()
      await running
      if (hasRun) return
      const until = clock.monotonic() + atEndMs
      await trimAll(() => clock.monotonic() >= until).catch(failed)
    },
  }
}
