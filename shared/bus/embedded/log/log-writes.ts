// The writing half of a log. Owns: the places of records and their times.

import type { Offset, RecordToAppend, StoredRecord } from '../../../contract/bus.ts'
import type { Clock, Milliseconds } from '../../../lib/clock.ts'
import type { KeyBlocks } from './key-blocks.ts'
import type { CommitTable, GroupCommit } from './log-commits.ts'
import type { LogDatabase } from './log-database.ts'
import { type Partition, type PartitionName, statementsOf } from './log-partition.ts'
import type { LogTopics } from './log-topics.ts'

export type LogWrites = {
  /** Gives records their places behind all earlier ones. Writes nothing yet. */
  stage(records: RecordToAppend[]): StoredRecord[]
  /** Writes records in the order of their staging. Returns the partitions that have grown. */
  write(what: { records: StoredRecord[]; commits: GroupCommit[] }): PartitionName[]
  unstage(): void
  /** The place that the next record will get. */
  endAhead(name: PartitionName): Offset
  /** Whether a record before `to` is staged and not yet written. */
  isStagedBefore(name: PartitionName & { to: Offset }): boolean
}

export function createWrites({
  database: { db, transaction },
  topics,
  commits: commitTable,
  index,
  clock,
  checkOwnFile,
}: {
  database: LogDatabase
  topics: LogTopics
  commits: CommitTable
  index: KeyBlocks
  clock: Clock
  /** Throws if the file is no longer in its place. */
  checkOwnFile: () => void
}): LogWrites {
  let timeStaged: Milliseconds = 0

  return {
    stage(records) {
      timeStaged = Math.max(timeStaged, topics.timeNewest(), Math.floor(clock.now()))
      return records.map(({ topic, partition: number, key, value, id }) => {
        const partition = topics.partition({ topic, partition: number })
        const offset = partition.end + partition.staged.length
        const record: StoredRecord = {
          topic,
          partition: number,
          key,
          value,
          id,
          offset,
          time: timeStaged,
        }
        partition.staged.push(record)
        return record
      })
    },

    write({ records, commits }) {
      checkOwnFile()
      const counts = new Map<Partition, number>()
      try {
        transaction(() => {
          for (const record of records) {
            const partition = topics.partition(record)
            const { offset, time, key, value, id } = record
            statementsOf(db, partition).insert.run(offset, time, key, value, id ?? null)
            index.add(partition, record)
            counts.set(partition, (counts.get(partition) ?? 0) + 1)
          }
          const time =
            records.at(-1)?.time ?? Math.max(topics.timeNewest(), Math.floor(clock.now()))
          for (const commit of commits) commitTable.set({ ...commit, time })
        })
      } catch (error) {
        index.rolledBack()
        throw error
      }
      for (const [partition, count] of counts) {
        for (const record of partition.staged.splice(0, count)) partition.tail.push(record)
        partition.end += count
      }
      const newest = records.at(-1)
      if (newest !== undefined) topics.setTimeNewest(newest.time)
      return [...counts.keys()]
    },

    unstage() {
      for (const { partitions } of topics.all())
        for (const partition of partitions) partition.staged = []
    },

    endAhead(name) {
      const { end, staged } = topics.partition(name)
      return end + staged.length
    },

    isStagedBefore({ to, ...name }) {
      const { end, staged } = topics.partition(name)
      return staged.length > 0 && end < to
    },
  }
}
