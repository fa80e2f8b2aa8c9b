// The commits of groups in a log.

import type { Commit, Offset } from '../../../contract/bus.ts'
import type { Milliseconds } from '../../../lib/clock.ts'
import type { LogDatabase } from './log-database.ts'
import type { PartitionName } from './log-partition.ts'

/** A group's commit of one partition, to write. */
export type GroupCommit = Commit & { group: string; topic: string; partition: number }

/** A group's commit as read. `time`: when it was committed. */
export type StoredCommit = GroupCommit & { time: Milliseconds }

export type LogCommits = {
  committed(name: PartitionName & { group: string }): Commit | undefined
  commitsOf(name: PartitionName): StoredCommit[]
  /** The offsets of a group, by partition. */
  offsetsOf(place: { group: string; topic: string }): Map<number, Offset>
}

export type CommitTable = LogCommits & {
  /** Runs inside the caller's transaction. */
  set(commit: StoredCommit): void
}

export function createCommitTable({ db, guarded }: LogDatabase): CommitTable {
  const committed = db.prepare(
    'SELECT offset, metadata FROM commits WHERE group_name = ? AND topic = ? AND partition = ?',
  )
  const commitsOf = db.prepare(
    'SELECT group_name, offset, metadata, time FROM commits WHERE topic = ? AND partition = ? ORDER BY group_name',
  )
  const offsetsOf = db.prepare(
    'SELECT partition, offset FROM commits WHERE group_name = ? AND topic = ?',
  )
  const set = db.prepare(
    'INSERT OR REPLACE INTO commits (group_name, topic, partition, offset, metadata, time) VALUES (?, ?, ?, ?, ?, ?)',
  )
  return {
    committed({ group, topic, partition }) {
      const row = guarded(() => committed.get(group, topic, partition))
      return row === undefined
        ? undefined
        : { offset: Number(row.offset), metadata: String(row.metadata) }
    },

    commitsOf({ topic, partition }) {
      return guarded(() => commitsOf.all(topic, partition)).map((row) => ({
        group: String(row.group_name),
        topic,
        partition,
        offset: Number(row.offset),
        metadata: String(row.metadata),
        time: Number(row.time),
      }))
    },

    offsetsOf({ group, topic }) {
      const rows = guarded(() => offsetsOf.all(group, topic))
      return new Map(rows.map((row) => [Number(row.partition), Number(row.offset)]))
    },

    set({ group, topic, partition, offset, metadata, time }) {
      set.run(group, topic, partition, offset, metadata, time)
    },
  }
}
