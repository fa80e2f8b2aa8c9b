// The reading half of a log. It holds no state: the newest records come from the tail of their
// partition, all others from the file.

import type { Offset, PartitionEnds, StoredRecord, TableKey } from '../../../contract/bus.ts'
import { prefixEnd } from '../../prefix-end.ts'
import type { KeyBlocks } from './key-blocks.ts'
import type { LogDatabase } from './log-database.ts'
import {
  endsOf,
  type Partition,
  type PartitionName,
  type Row,
  recordOf,
  statementsOf,
} from './log-partition.ts'
import type { LogTopics } from './log-topics.ts'

/**
 * `bytesMax`: the read ends with the record that reaches it. It returns at least one record where
 * there is one.
 */
export type ReadRange = PartitionName & {
  from: Offset
  to?: Offset | undefined
  limit: number
  bytesMax?: number | undefined
  /** Records of other keys may be left out. Then only an empty result means that there are no more. */
  keys?: readonly string[] | undefined
}

export type LogReads = {
  read(range: ReadRange): StoredRecord[]
  /** As `read`, and then the staged records. */
  readAhead(range: Omit<ReadRange, 'to' | 'keys'>): StoredRecord[]
  ends(topic: string): PartitionEnds[]
  end(name: PartitionName): Offset
  /** The newest record under `key`. Undefined if there is none or it is a tombstone. */
  newest(name: PartitionName & { key: string }): StoredRecord | undefined
  /**
   * The newest records of all keys that begin with `prefix`, without tombstones, in the order of
   * the keys' UTF-8 bytes.
   */
  newestWithPrefix(name: PartitionName & { prefix: string }): StoredRecord[]
  /** Keys after `after` without tombstones, in the order of their UTF-8 bytes. */
  keys(name: PartitionName & { after?: string | undefined; limit: number }): TableKey[]
}

type Unkeyed = Omit<ReadRange, keyof PartitionName | 'keys'>
type KeyedRange = Unkeyed & { keys: readonly string[] }

/**
 * A table of at most so many records and bytes stays in memory while it does not change: each model
 * request and each claim read `policies`.
 */
const keptRecordsMax = 256
const keptBytesMax = 1024 * 1024

export function createReads(
  { db, readOnly, guarded }: LogDatabase,
  topics: LogTopics,
  index: KeyBlocks,
): LogReads {
  /** The newest records are in memory, and those before the index are read without it. */
  function readKeys(
    partition: Partition,
    { keys, to = Number.MAX_SAFE_INTEGER, ...range }: KeyedRange,
  ): StoredRecord[] {
    const newest = partition.tail.read({ ...range, to })
    if (newest !== undefined) return newest
    const indexedFrom = index.indexedFrom(partition)
    if (range.from < indexedFrom) {
      const older = readWritten(partition, { ...range, to: Math.min(to, indexedFrom) })
      if (older.length > 0) return older
    }
    const { bytesMax = Number.POSITIVE_INFINITY, limit } = range
    const from = Math.max(range.from, indexedFrom)
    return from < to ? index.read(partition, { keys, from, to, limit, bytesMax }) : []
  }

  function readWritten(
    partition: Partition,
    { from, to = Number.MAX_SAFE_INTEGER, limit, bytesMax }: Unkeyed,
  ): StoredRecord[] {
    const newest = partition.tail.read({ from, to, limit, bytesMax })
    if (newest !== undefined) return newest
    return guarded(() => {
      const { extent, read } = statementsOf(db, partition)
      const all = (end: Offset) =>
        (read.all(from, end, limit) as unknown as Row[]).map((row) => recordOf(partition, row))
      if (bytesMax === undefined) return all(to)
      // Reading all rows at once costs a quarter less than one by one, but holds all of them in
      // memory. So the size decides.
      const [total, last] = extent.get(from, to, limit) as unknown as [
        total: number,
        last: Offset | null,
      ]
      if (last === null) return []
      if (total < bytesMax) return all(last + 1)
      const records: StoredRecord[] = []
      let bytes = 0
      for (const row of read.iterate(from, to, limit) as Iterable<unknown> as Iterable<Row>) {
        records.push(recordOf(partition, row))
        bytes += row[3]?.byteLength ?? 0
        if (bytes >= bytesMax) break
      }
      return records
    })
  }

  /** The newest records of a small table that does not change. Undefined: ask SQLite. */
  function keptNewest(partition: Partition): Map<string, StoredRecord> | undefined {
    const { end } = partition
    if (readOnly || end > keptRecordsMax) return undefined
    if (partition.newest?.end !== end) {
      partition.newest = { end }
      return undefined
    }
    const { newest } = partition
    if (newest.byKey === undefined && bytesWritten(partition) <= keptBytesMax)
      newest.byKey = new Map(withPrefix(partition, '').map((one) => [one.key, one]))
    return newest.byKey
  }

  /** Of a small table. Replaced records count too. */
  function bytesWritten(partition: Partition): number {
    const { extent } = statementsOf(db, partition)
    const [total] = guarded(() => extent.get(0, partition.end, keptRecordsMax)) as unknown as [
      number,
    ]
    return total
  }

  function withPrefix(partition: Partition, prefix: string): StoredRecord[] {
    const rows = guarded(() =>
      statementsOf(db, partition).prefix.all(prefix, prefixEnd(prefix)),
    ) as unknown as Row[]
    return rows.map((row) => recordOf(partition, row))
  }

  function newestWritten(partition: Partition, key: string): StoredRecord | undefined {
    const row = guarded(() => statementsOf(db, partition).newest.get(key)) as unknown as
      | Row
      | undefined
    return row && recordOf(partition, row)
  }

  return {
    read({ keys, ...range }) {
      const partition = topics.partition(range)
      return keys === undefined
        ? readWritten(partition, range)
        : readKeys(partition, { ...range, keys })
    },

    readAhead(range) {
      const partition = topics.partition(range)
      const written = range.from < partition.end ? readWritten(partition, range) : []
      return withStaged(written, partition, range)
    },

    ends: (topic) =>
      topics.topic(topic).partitions.map((partition) => endsOf(topics.freshPartition(partition))),
    end: (name) => topics.freshPartition(name).end,

    newest({ key, ...name }) {
      const partition = topics.tablePartition(name)
      const kept = keptNewest(partition)
      if (kept !== undefined) return kept.get(key)
      const newest = partition.tail.newest(key) ?? newestWritten(partition, key)
      return newest?.value === null ? undefined : newest
    },

    newestWithPrefix({ prefix, ...name }) {
      const partition = topics.tablePartition(name)
      const kept = keptNewest(partition)
      if (kept === undefined) return withPrefix(partition, prefix)
      return [...kept.values()].filter((record) => record.key.startsWith(prefix))
    },

    keys({ after, limit, ...name }) {
      const partition = topics.tablePartition(name)
      const first = after === undefined ? '' : `${after}\0` // the least text above it
      const rows = guarded(() => statementsOf(db, partition).keys.all(first, limit))
      return rows.map(({ key, offset, time }) => ({
        key: String(key),
        offset: Number(offset),
        time: Number(time),
      }))
    },
  }
}

/** Adds the staged records that follow `records`, within the limits of the range. */
function withStaged(
  records: StoredRecord[],
  { end, staged }: Partition,
  { from, limit, bytesMax = Number.POSITIVE_INFINITY }: Omit<ReadRange, 'to'>,
): StoredRecord[] {
  let next = records.length === 0 ? from : (records.at(-1) as StoredRecord).offset + 1
  let bytes = 0
  for (const { value } of records) bytes += value?.byteLength ?? 0
  for (; next >= end && records.length < limit && bytes < bytesMax; next += 1) {
    const record = staged[next - end]
    if (record === undefined) break
    records.push(record)
    bytes += record.value?.byteLength ?? 0
  }
  return records
}
