// The lag of this process in its partitions. The ends of topics are read on request and kept for a
// moment: watching must not load the bus.

import type { Bus, Offset } from '../../../shared/contract/bus.ts'
import type { Clock, Milliseconds } from '../../../shared/lib/clock.ts'
import type { ReaderName, ReadPartition, ReadPartitions } from '../read-partitions.ts'

const endsKeptMs = 5_000
const endsWaitMs = 2_000

/**
 * `seconds`: the longest possible wait of the oldest unread record, counted from the newest record
 * that was read or from the last look without a lag.
 */
export type Lag = { stage: ReaderName; partition: number; records: number; seconds: number }

export type LagReaderOptions = {
  bus: Pick<Bus, 'ends'>
  clock: Clock
  partitions: Pick<ReadPartitions, 'all'>
}

type Ends = { at: Milliseconds; byPartition: Map<number, Offset> }

/**
 * The lag of each partition with a known end. If the bus does not answer within two seconds, the
 * partition is missing, because an old value would mislead.
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
    const pending = known.get(read.topic) ?? endsOf(read.topic)
    known.set(read.topic, pending)
    const ends = await pending
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
