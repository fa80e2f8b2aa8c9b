// How far this process is behind in the partitions that it reads. The ends of topics are asked for
// when somebody wants to know, and kept for a moment: the bus must not be busier for being watched.

import type { Bus, Offset } from '../../shared/contract/bus.ts'
import type { Clock, Milliseconds } from '../../shared/lib/clock.ts'
import type { ReaderName, ReadPartition, ReadPartitions } from './read-partitions.ts'

const endsKeptMs = 5_000
const endsWaitMs = 2_000

/**
 * `seconds`: at most so long has the oldest record waited that is not read yet: since the newest
 * one that was read, or since the partition was last seen without a lag.
 */
export type Lag = { stage: ReaderName; partition: number; records: number; seconds: number }

export type LagReaderOptions = {
  bus: Pick<Bus, 'ends'>
  clock: Clock
  partitions: Pick<ReadPartitions, 'all'>
}

type Ends = { at: Milliseconds; byPartition: Map<number, Offset> }

/**
 * Answers for each partition whose end is known. Where the bus does not answer within two seconds
 * nothing is said, instead of something old.
 */
export function createLagReader({
  bus,
  clock,
  partitions,
}: LagReaderOptions): () => Promise<Lag[]> {
  const known = new Map<string, Promise<Ends | undefined>>()
  const caughtUpAt = new WeakMap<ReadPartition, Milliseconds>()
  let keptUntil = Number.NEGATIVE_INFINITY

  return async () => {
    if (clock.monotonic() >= keptUntil) {
      known.clear()
      keptUntil = clock.monotonic() + endsKeptMs
    }
    const lags = await Promise.all([...partitions.all].map(lagOf))
    return lags.filter((lag) => lag !== undefined)
  }

  async function lagOf(read: ReadPartition): Promise<Lag | undefined> {
    const asked = known.get(read.topic) ?? endsOf(read.topic)
    known.set(read.topic, asked)
    const ends = await asked
    const end = ends?.byPartition.get(read.partition)
    if (ends === undefined || end === undefined) return undefined
    const records = Math.max(0, end - read.position)
    if (records === 0) caughtUpAt.set(read, ends.at)
    const since = Math.max(read.newestTime ?? read.assignedAt, caughtUpAt.get(read) ?? 0)
    const { stage, partition } = read
    return {
      stage,
      partition,
      records,
      seconds: records === 0 ? 0 : Math.max(0, clock.now() - since) / 1000,
    }
  }

  async function endsOf(topic: string): Promise<Ends | undefined> {
    const waited = Promise.withResolvers<undefined>()
    const cancel = clock.after(endsWaitMs, () => waited.resolve(undefined))
    try {
      const ends = await Promise.race([bus.ends(topic), waited.promise])
      if (ends === undefined) return undefined
      return {
        at: clock.now(),
        byPartition: new Map(ends.map(({ partition, end }) => [partition, end])),
      }
    } catch {
      return undefined
    } finally {
      cancel()
    }
  }
}
