// Deletes old records, one stretch of a partition at a time, so as not to hold up the process. A log
// loses records from its front, up to the first that is young or that a group may still fold. A
// table loses replaced records and old tombstones, the oldest first: so a reader from the front
// never sees a deleted value come back. The file does not shrink; SQLite uses the freed pages for
// new records. (`VACUUM` while no Weir runs shrinks it.)

import type { DatabaseSync } from 'node:sqlite'
import type { Offset, PartitionEnds, TopicKind } from '../../../contract/bus.ts'
import type { Milliseconds } from '../../../lib/clock.ts'
import { partitionTable } from '../file/schema.ts'
import { removeKeyBlocks } from './key-blocks.ts'

/** How many offsets one call covers: a few milliseconds. */
const stretch = 2000

export type Trim = {
  topic: string
  partition: number
  kind: TopicKind
  ends: PartitionEnds
  /** Where this call begins: `ends.begin`, or the `next` of the call before. */
  from: Offset
  /** Records of a log at and above this offset stay. */
  keepFrom: Offset
  /** Records with a time at or after this one stay. */
  olderThan: Milliseconds
}

/**
 * Runs inside the caller's transaction. `begin`: the partition's new begin; `next`: where to go on,
 * undefined when it is done.
 */
export function trimPartition(
  db: DatabaseSync,
  trim: Trim,
): { begin: Offset; next: Offset | undefined } {
  return trim.kind === 'log' ? trimFront(db, trim) : compact(db, trim)
}

function trimFront(db: DatabaseSync, trim: Trim): { begin: Offset; next: Offset | undefined } {
  const { topic, partition, ends, from, keepFrom, olderThan } = trim
  const table = partitionTable(topic, partition)
  const to = Math.min(from + stretch, keepFrom, ends.end)
  const young = db.prepare(
    `SELECT offset FROM ${table} WHERE offset >= ? AND offset < ? AND time >= ? ORDER BY offset LIMIT 1`,
  )
  const begin = Number(young.get(from, to, olderThan)?.offset ?? to)
  if (begin <= from) return { begin: ends.begin, next: undefined }
  remember(db, trim, { begin, deletedTo: begin })
  removeKeyBlocks(db, trim, {
    keys: `SELECT key FROM ${table} WHERE offset < ?`,
    left: 'record.offset >= ?',
    values: [begin, begin],
  })
  db.prepare(`DELETE FROM ${table} WHERE offset < ?`).run(begin)
  return { begin, next: begin === to && to < Math.min(keepFrom, ends.end) ? begin : undefined }
}

function compact(db: DatabaseSync, trim: Trim): { begin: Offset; next: Offset | undefined } {
  const { topic, partition, ends, from, olderThan } = trim
  const table = partitionTable(topic, partition)
  const to = Math.min(from + stretch, ends.end)
  const dead = `offset >= ? AND offset < ? AND time < ?
    AND (value IS NULL OR EXISTS (SELECT 1 FROM ${table} AS newer WHERE newer.key = old.key AND newer.offset > old.offset))`
  const last = db
    .prepare(`SELECT max(offset) AS last FROM ${table} AS old WHERE ${dead}`)
    .get(from, to, olderThan)?.last
  if (typeof last === 'number') {
    remember(db, trim, { begin: ends.begin, deletedTo: last + 1 })
    db.prepare(`DELETE FROM ${table} AS old WHERE ${dead}`).run(from, to, olderThan)
  }
  return { begin: ends.begin, next: to < ends.end ? to : undefined }
}

/**
 * Used offsets and times stay known. Call it before the
 * deletion.
 */
export function remember(
  db: DatabaseSync,
  { topic, partition }: Pick<Trim, 'topic' | 'partition'>,
  { begin, deletedTo }: { begin: Offset; deletedTo: Offset },
): void {
  const table = partitionTable(topic, partition)
  const time =
    db
      .prepare(`SELECT time FROM ${table} WHERE offset < ? ORDER BY offset DESC LIMIT 1`)
      .get(deletedTo)?.time ?? 0
  db.prepare(
    `INSERT INTO trimmed (topic, partition, begin, deleted_to, deleted_time) VALUES (?, ?, ?, ?, ?)
    ON CONFLICT (topic, partition) DO UPDATE SET
      begin = excluded.begin,
      deleted_to = max(deleted_to, excluded.deleted_to),
      deleted_time = max(deleted_time, excluded.deleted_time)`,
  ).run(topic, partition, begin, deletedTo, time)
}
