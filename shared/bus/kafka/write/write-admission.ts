// Checks a call's records before any of them is queued: sizes, topics, partitions.

import type { RecordToAppend } from '../../../contract/bus.ts'
import { WeirError } from '../../../lib/errors.ts'
import type { Cluster } from '../cluster/cluster.ts'

export type WriteAdmission = {
  /**
   * Calls `enqueue` once topics and partitions are checked. If that needs a broker, later calls
   * wait after it.
   */
  admit<Result>(records: RecordToAppend[], enqueue: () => Promise<Result>): Promise<Result>
  /** Resolves when all calls so far are checked. */
  checked(): Promise<void>
}

export function createWriteAdmission(cluster: Cluster): WriteAdmission {
  /** The last call that waits for a broker. */
  let checking: Promise<void> | undefined

  function areTopicsKnown(records: RecordToAppend[]): boolean {
    return records.every(({ topic, value }) => value !== null && cluster.known(topic) !== undefined)
  }

  async function requestTopics(records: RecordToAppend[]): Promise<void> {
    for (const topic of new Set(records.map((record) => record.topic))) await cluster.topic(topic)
    for (const { topic, key, value } of records) {
      if (value !== null || (await cluster.kind(topic)) === 'table') continue
      throw new WeirError(
        'bus.topic-differs',
        `topic ${topic} is a log, and a tombstone (key ${key}) needs a table`,
      )
    }
  }

  function checkPartitions(records: RecordToAppend[]): void {
    for (const { topic, partition } of records) {
      const partitions = cluster.known(topic)?.leaders.length ?? 0
      if (partition >= 0 && partition < partitions) continue
      throw new WeirError(
        'bus.topic-differs',
        `cannot write to partition ${partition} of topic ${topic}: it has partitions 0 to ${partitions - 1}`,
      )
    }
  }

  return {
    async admit(records, enqueue) {
      if (checking === undefined && areTopicsKnown(records)) {
        checkPartitions(records)
        return enqueue()
      }
      const enqueued = Promise.resolve(checking).then(async () => {
        await requestTopics(records)
        checkPartitions(records)
        return { result: enqueue() } // an object: later calls wait for the check, not for the write
      })
      const mine = enqueued.then(
        () => {},
        () => {},
      )
      checking = mine
      void mine.then(() => {
        if (checking === mine) checking = undefined
      })
      return (await enqueued).result
    },

    checked: async () => checking,
  }
}

/** Needs no broker. Returns the size of the values. */
export function checkSizes(records: RecordToAppend[], recordBytesMax: number): number {
  let bytes = 0
  for (const { topic, key, value } of records) {
    const size = value?.byteLength ?? 0
    bytes += size
    if (size <= recordBytesMax) continue
    const why = `a record for ${topic} (key ${key}) has ${size} bytes; the bus accepts at most ${recordBytesMax}`
    throw new WeirError('bus.record-too-large', why)
  }
  return bytes
}
