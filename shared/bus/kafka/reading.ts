// Reads without a consumer group: the ends of a topic, a range of a partition, and following one.

import type { Bus, Offset, StoredRecord } from '../../contract/bus.ts'
import type { WeirError } from '../../lib/errors.ts'
import { type Cluster, topicOf } from './cluster/cluster.ts'
import { createLinkCache } from './cluster/link-cache.ts'
import { errorCodes, protocolError, sendRaw } from './driver.ts'
import { assertOpen, readOf } from './failure.ts'
import { fetchRequest } from './fetch/fetch-request.ts'
import type { Fetching } from './fetch/fetching.ts'
import { decodeRecordSet } from './protocol/record-batch.ts'

/**
 * The bytes of one request for a range, and the bytes that a follower holds before fetching pauses.
 */
const rangeBytesMax = 4 * 1024 * 1024
const heldBytesMax = 2 * 1024 * 1024

export type Reading = Pick<Bus, 'ends' | 'end' | 'offsetSince' | 'read' | 'follow'> & {
  close(): void
}

type FollowOptions = Parameters<Bus['follow']>[0]

/**
 * `fetching`: shared by all followers. `closed`: aborts when the bus closes; all that waits then
 * ends with `bus.closed`.
 */
export function createReading({
  cluster,
  fetching,
  closed,
}: {
  cluster: Cluster
  fetching: Fetching
  closed: AbortSignal
}): Reading {
  const links = createLinkCache(cluster.connect)

  /** From the leader, over the link for ranges: they wait after no long request. */
  async function fetchOnce(topic: string, partition: number, from: Offset, bytesMax: number) {
    const leader = (await cluster.topic(topic)).leaders[partition]
    if (leader === undefined) throw protocolError(errorCodes.leaderNotAvailable)
    const link = await links.get(leader)
    const limits = { waitMs: 0, bytesMax, partitionBytesMax: bytesMax }
    const [answer] = await link.request((broker) =>
      sendRaw(broker, fetchRequest([{ topic, partition, from }], limits)),
    )
    if (answer === undefined) throw protocolError(errorCodes.unknownServerError)
    if (answer.errorCode !== 0 && answer.errorCode !== errorCodes.offsetOutOfRange)
      throw protocolError(answer.errorCode)
    return answer
  }

  return {
    async ends(topic, partitions) {
      assertOpen(closed)
      return cluster.ends(topic, partitions)
    },

    async end({ topic, partition }) {
      assertOpen(closed)
      return cluster.end(topic, partition)
    },

    async offsetSince({ topic, partition, time }) {
      assertOpen(closed)
      await topicOf(cluster, { topic, partition })
      return cluster.offsetSince(topic, partition, time)
    },

    async read({
      topic,
      partition,
      from,
      to = Number.MAX_SAFE_INTEGER,
      limit,
      bytesMax = Number.MAX_SAFE_INTEGER,
    }) {
      assertOpen(closed)
      await topicOf(cluster, { topic, partition })
      const records: StoredRecord[] = []
      const requestBytesMax = Math.max(1, Math.min(rangeBytesMax, limit * 16 * 1024, bytesMax))
      let bytes = 0
      for (let next = from; next < to && records.length < limit && bytes < bytesMax; ) {
        const at = next
        const answer = await cluster.retry(readOf({ topic, partition }), () =>
          fetchOnce(topic, partition, at, requestBytesMax),
        )
        if (answer.errorCode === errorCodes.offsetOutOfRange) {
          const [ends] = await cluster.ends(topic, [partition])
          if (ends === undefined || next >= ends.begin) break
          next = ends.begin
          continue
        }
        const decoded = decodeRecordSet(answer.set, {
          topic,
          partition,
          from: next,
          aborted: answer.aborted,
        })
        for (const record of decoded.records) {
          if (record.offset >= to || records.length >= limit || bytes >= bytesMax) break
          records.push(record)
          bytes += record.value?.byteLength ?? 0
        }
        if (decoded.next === next) break
        next = decoded.next
      }
      return records
    },

    async *follow(options) {
      if (options.signal.aborted) return
      assertOpen(closed)
      await topicOf(cluster, options)
      yield* followRecords(options, fetching, closed)
    },

    close: links.close,
  }
}

/** Yields the records that arrived since the last batch. Holds at most heldBytesMax and one response. */
async function* followRecords(
  { topic, partition, from, signal }: FollowOptions,
  fetching: Fetching,
  closed: AbortSignal,
): AsyncGenerator<StoredRecord[]> {
  let held: StoredRecord[] = []
  let heldBytes = 0
  let failure: WeirError | undefined
  let wake = (): void => {}
  const cursor = {
    topic,
    partition,
    next: from,
    skipsDeleted: true,
    hasRoom: () => heldBytes < heldBytesMax,
    onRecords(records: StoredRecord[]) {
      for (const record of records) {
        held.push(record)
        heldBytes += bytesHeld(record)
      }
      wake()
    },
    onFailed(error: WeirError) {
      failure = error
      wake()
    },
  }
  const onAbort = (): void => wake()
  signal.addEventListener('abort', onAbort)
  closed.addEventListener('abort', onAbort)
  fetching.add(cursor)
  try {
    while (!signal.aborted) {
      assertOpen(closed)
      if (held.length > 0) {
        const batch = held
        const wasFull = heldBytes >= heldBytesMax
        held = []
        heldBytes = 0
        if (wasFull) fetching.wake()
        yield batch
      } else if (failure !== undefined) throw failure
      else await new Promise<void>((resolve) => (wake = resolve))
    }
  } finally {
    fetching.remove(cursor)
    signal.removeEventListener('abort', onAbort)
    closed.removeEventListener('abort', onAbort)
  }
}

/** The approximate memory of a record. */
export function bytesHeld({ key, value }: Pick<StoredRecord, 'key' | 'value'>): number {
  return 200 + key.length + (value?.byteLength ?? 0)
}
