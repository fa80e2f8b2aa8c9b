// The records of one key of a topic as they arrive, at the pace of the caller. All followers of a
// partition share one reader (partition-reader.ts).
// A follower gets each record of its key from its offset on, once and in order.
// Records that wait for a slow follower are bounded. It reads those beyond from the log.

import { batchesOf } from '../../shared/bus/range.ts'
import type { Bus, Offset, StoredRecord } from '../../shared/contract/bus.ts'
import { createPartitionReader, type PartitionReader } from './partition-reader.ts'

/** Records of a conversation that wait for a follower, and their bytes. The log has those beyond. */
export const followedRecordsMax = 64
const followedBytesMax = 256 * 1024

export type KeyRange = {
  topic: string
  partition: number
  key: string
  from: Offset
  signal: AbortSignal
}

/** Goes on until the signal aborts. Throws if the log cannot be read. */
export type FollowKey = (range: KeyRange) => AsyncGenerator<StoredRecord[], void>

/** `inLogFrom`: records from here on are not kept, and are read from the log. */
type Follower = {
  from: Offset
  kept: StoredRecord[]
  keptBytes: number
  inLogFrom: Offset | undefined
  failure: { error: unknown } | undefined
  wake: () => void
}

export function createFollowKey(bus: Pick<Bus, 'ends' | 'read' | 'follow'>): FollowKey {
  const readers = new Map<string, PartitionReader>()

  function readerOf({ topic, partition }: KeyRange): PartitionReader {
    const name = `${partition} ${topic}`
    const reader = readers.get(name) ?? createPartitionReader(bus, topic, partition)
    readers.set(name, reader)
    return reader
  }

  return async function* (range) {
    const { topic, partition, key, from, signal } = range
    const reader = readerOf(range)
    const follower: Follower = {
      from,
      kept: [],
      keptBytes: 0,
      inLogFrom: from,
      failure: undefined,
      wake: () => {},
    }
    const onAbort = (): void => follower.wake()
    signal.addEventListener('abort', onAbort, { once: true })
    const { stop } = await reader.listen(key, {
      onRecord: (record) => keep(follower, record),
      onFailure(error) {
        follower.failure = { error }
        follower.wake()
      },
    })
    try {
      while (!signal.aborted) {
        if (follower.kept.length > 0) {
          const records = follower.kept
          follower.kept = []
          follower.keptBytes = 0
          yield records
        } else if (follower.inLogFrom !== undefined) {
          const missed = { topic, partition, from: follower.inLogFrom, to: reader.next }
          follower.inLogFrom = undefined // the reader keeps the records from `to` on
          for await (const records of batchesOf(bus, missed, signal)) {
            const own = records.filter((record) => record.key === key)
            if (own.length > 0) yield own
          }
        } else if (follower.failure !== undefined) throw follower.failure.error
        else
          await new Promise<void>((resolve) => {
            follower.wake = resolve
          })
      }
    } finally {
      signal.removeEventListener('abort', onAbort)
      stop()
    }
  }
}

function keep(follower: Follower, record: StoredRecord): void {
  if (record.offset < follower.from || follower.inLogFrom !== undefined) return
  const bytes = record.value?.length ?? 0
  const isFull =
    follower.kept.length >= followedRecordsMax || follower.keptBytes + bytes > followedBytesMax
  if (isFull) follower.inLogFrom = record.offset
  else {
    follower.kept.push(record)
    follower.keptBytes += bytes
  }
  follower.wake()
}
