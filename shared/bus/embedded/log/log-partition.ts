// A partition of the log: the ends, the newest records in memory, and the SQL statements.

import type { DatabaseSync, StatementSync } from 'node:sqlite'
import type { Offset, PartitionEnds, StoredRecord, TopicKind } from '../../../contract/bus.ts'
import { partitionTable } from '../file/schema.ts'
import type { Tail } from './tail.ts'

export type PartitionName = { topic: string; partition: number }

/** `end`: the offset after the last written record. `staged`: the records that follow there. */
export type Partition = PartitionName & {
  kind: TopicKind
  begin: Offset
  end: Offset
  statements: Statements | undefined
  tail: Tail
  staged: StoredRecord[]
  /** The keys that the index has for the block of the newest record (key-blocks.ts). */
  newestBlock?: { block: number; keys: Set<string> } | undefined
  /** The end at the last read by key, and from the second such read on the newest records then. */
  newest?: { end: Offset; byKey?: Map<string, StoredRecord> }
}

type Statements = {
  insert: StatementSync
  extent: StatementSync
  read: StatementSync
  newest: StatementSync
  prefix: StatementSync
  keys: StatementSync
}

export type Row = [
  offset: number,
  time: number,
  key: string,
  value: Uint8Array | null,
  id: string | null,
]

export function statementsOf(db: DatabaseSync, partition: Partition): Statements {
  partition.statements ??= prepare(db, partition)
  return partition.statements
}

function prepare(db: DatabaseSync, partition: PartitionName): Statements {
  const table = partitionTable(partition.topic, partition.partition)
  const columns = 'offset, time, key, value, id'
  const statements: Statements = {
    insert: db.prepare(`INSERT INTO ${table} (${columns}) VALUES (?, ?, ?, ?, ?)`),
    // length() here reads only the header of a value. Outside of the inner query, SQLite would
    // read the value from its pages.
    extent: db.prepare(
      `SELECT total(bytes), max(offset) FROM
        (SELECT offset, length(value) AS bytes FROM ${table} WHERE offset >= ? AND offset < ? ORDER BY offset LIMIT ?)`,
    ),
    read: db.prepare(
      `SELECT ${columns} FROM ${table} WHERE offset >= ? AND offset < ? ORDER BY offset LIMIT ?`,
    ),
    newest: db.prepare(
      `SELECT ${columns} FROM ${table} WHERE key = ? ORDER BY offset DESC LIMIT 1`,
    ),
    prefix: db.prepare(
      `WITH newest AS MATERIALIZED (SELECT max(offset) AS last FROM ${table} WHERE key >= ? AND key < ? GROUP BY key)
      SELECT ${columns} FROM newest CROSS JOIN ${table} ON offset = last WHERE value IS NOT NULL ORDER BY key`,
    ),
    // typeof() reads only the header of a value. IS NOT NULL would read a large value from its
    // pages.
    keys: db.prepare(
      `SELECT key, offset, time FROM ${table} AS record WHERE key >= ?
        AND offset = (SELECT max(newer.offset) FROM ${table} AS newer WHERE newer.key = record.key) AND typeof(value) <> 'null'
      ORDER BY key LIMIT ?`,
    ),
  }
  // Rows as arrays are a tenth faster than objects, and each row becomes a record anyway.
  for (const statement of [
    statements.extent,
    statements.read,
    statements.newest,
    statements.prefix,
  ])
    statement.setReturnArrays(true)
  return statements
}

export function endsOf({ partition, begin, end }: Partition): PartitionEnds {
  return { partition, begin, end }
}

export function recordOf(
  { topic, partition }: PartitionName,
  [offset, time, key, value, id]: Row,
): StoredRecord {
  return { topic, partition, key, value, id: id ?? undefined, offset, time }
}
