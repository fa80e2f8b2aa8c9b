// The SQL schema of the embedded bus's file. You can read the file with any SQLite tool:
//
//     SELECT * FROM topics
//     SELECT at, key, id, bytes FROM "weir.rounds-checked/all" WHERE key = 'my-conversation'
//     SELECT * FROM "weir.rounds-checked/2"   one partition; offset is the rowid, time is Unix ms
//     SELECT * FROM records ORDER BY time     every record of every topic
//     SELECT * FROM commits                   the progress of each group
//
// Each partition has its own table, because that was fastest. The measurement: 300-byte values, 10
// topics x 4 partitions, 300,000 records, 100 in a transaction, synchronous=off, 2 cores.
//
//     appended/s  read/s
//     143,000     240,000   a table for each partition
//     105,000     138,000   one table in order of arrival, with a unique index
//      62,000     237,000   one table WITHOUT ROWID
//      81,000     232,000   topic and offset packed into the rowid
//     101,000     183,000   a table for each topic
//
// Pages of 8 or 16 KiB were slower. The bench of the finished bus is test/bench/bus.ts.

import type { TopicSpec } from '../../../contract/bus.ts'
import { logApplicationId } from '../../../lib/files/application-id.ts'

/** `PRAGMA user_version`. A file with a higher one is refused. */
export const schemaVersion = 2
/** Of an index by key (log/key-blocks.ts). A smaller block has more entries, a larger one more records to read. */
export const offsetsInBlock = 1024
/** SQLite's limit on the terms of a UNION ALL. The view of a topic is one. */
export const partitionsMax = 500

/** Version 2 added it. */
export const keyBlocksSchema = `
  -- The blocks of ${offsetsInBlock} offsets of the logs in which a key has records.
  CREATE TABLE key_blocks (
    key TEXT NOT NULL,
    topic TEXT NOT NULL,
    partition INTEGER NOT NULL,
    block INTEGER NOT NULL, -- offset / ${offsetsInBlock}
    PRIMARY KEY (key, topic, partition, block)
  ) STRICT, WITHOUT ROWID;
  -- A partition of a file that was older: blocks before this one are not in key_blocks yet.
  CREATE TABLE key_blocks_from (
    topic TEXT NOT NULL,
    partition INTEGER NOT NULL,
    block INTEGER NOT NULL,
    PRIMARY KEY (topic, partition)
  ) STRICT, WITHOUT ROWID;
`

export const schema = `
  CREATE TABLE topics (
    name TEXT PRIMARY KEY,
    kind TEXT NOT NULL CHECK (kind IN ('log', 'table')),
    partitions INTEGER NOT NULL,
    retention_ms INTEGER -- NULL: records of a log stay for ever
  ) STRICT;
  CREATE TABLE commits (
    group_name TEXT NOT NULL,
    topic TEXT NOT NULL REFERENCES topics (name),
    partition INTEGER NOT NULL,
    offset INTEGER NOT NULL, -- the first record that is not done
    metadata TEXT NOT NULL, -- the runtime's: where to fold from, and its marks there
    time INTEGER NOT NULL, -- of the commit, in milliseconds since 1970
    PRIMARY KEY (group_name, topic, partition)
  ) STRICT, WITHOUT ROWID;
  -- What retention has deleted, so that no offset is given twice and no time goes back when all records of a partition are gone.
  CREATE TABLE trimmed (
    topic TEXT NOT NULL REFERENCES topics (name),
    partition INTEGER NOT NULL,
    begin INTEGER NOT NULL, -- the oldest offset that a reader may still ask for
    deleted_to INTEGER NOT NULL, -- one more than the highest offset that was deleted
    deleted_time INTEGER NOT NULL, -- of that record
    PRIMARY KEY (topic, partition)
  ) STRICT, WITHOUT ROWID;
  ${keyBlocksSchema}
  PRAGMA application_id = ${logApplicationId};
  PRAGMA user_version = ${schemaVersion};
`

/**
 * The quoted name of the SQL table that holds one partition. Topic names have no quotes in them
 * (see topicNameFits).
 */
export function partitionTable(topic: string, partition: number): string {
  return `"${topic}/${partition}"`
}

/** Kafka's rule for topic names. Such a name also has no meaning in SQL. */
export function topicNameFits(name: string): boolean {
  return /^[a-zA-Z0-9._-]{1,249}$/.test(name)
}

/**
 * SQL that creates the tables of a new topic's partitions and the view `"<topic>/all"` over them.
 */
export function topicSchema({ name, kind, partitions }: TopicSpec): string {
  const numbers = Array.from({ length: partitions }, (_, partition) => partition)
  const tables = numbers.map(
    (partition) => `CREATE TABLE ${partitionTable(name, partition)} (
      offset INTEGER PRIMARY KEY,
      time INTEGER NOT NULL, -- when the bus appended it, in milliseconds since 1970; never goes back
      key TEXT NOT NULL, -- the conversation, or the table's key
      value BLOB, -- NULL: a tombstone
      id TEXT -- stage/partition/offset/n of a derived record; NULL: an observed one
    ) STRICT;`,
  )
  // The rowid is the last column of every index. So (key, offset) finds a key's newest record
  // without a second structure that could differ.
  const indexes =
    kind === 'table'
      ? numbers.map(
          (n) => `CREATE INDEX "${name}/${n} by key" ON ${partitionTable(name, n)} (key);`,
        )
      : []
  const selects = numbers.map(
    (
      n,
    ) => `SELECT ${n} AS partition, offset, time, strftime('%Y-%m-%dT%H:%M:%fZ', time / 1000.0, 'unixepoch') AS at,
      key, id, length(value) AS bytes, value FROM ${partitionTable(name, n)}`,
  )
  return `${tables.join('')}${indexes.join('')}CREATE VIEW "${name}/all" AS ${selects.join(' UNION ALL ')};`
}

/**
 * SQL that recreates the view `records` over the first 500 of `topics`: their names, at least one.
 */
export function recordsView(topics: string[]): string {
  const selects = topics
    .slice(0, partitionsMax)
    .map((name) => `SELECT '${name}' AS topic, * FROM "${name}/all"`)
  return `DROP VIEW IF EXISTS records; CREATE VIEW records AS ${selects.join(' UNION ALL ')};`
}

/** The note of an import (imported.ts). */
export const importedTurnsTable = `
  CREATE TABLE imported_turns (
    topic TEXT NOT NULL, -- the inbox with the record that opened the turn
    partition INTEGER NOT NULL,
    turn INTEGER NOT NULL, -- the offset of that record
    and_later INTEGER NOT NULL, -- 1: and all that are opened from there on, because nothing was left out behind it
    PRIMARY KEY (topic, partition, turn)
  ) STRICT, WITHOUT ROWID;
`

/** The table of an earlier Weir, which had one inbox with turns. */
export const importedTurnsWithoutTopic = `
  CREATE TABLE imported_turns (
    partition INTEGER NOT NULL,
    turn INTEGER NOT NULL,
    and_later INTEGER NOT NULL,
    PRIMARY KEY (partition, turn)
  ) STRICT, WITHOUT ROWID;
`

/** Only in a backup (backup.ts). */
export const backupTable = `
  CREATE TABLE backup (
    name TEXT PRIMARY KEY, -- of a file of the data folder; empty: the time of the backup
    content BLOB NOT NULL
  ) STRICT;
`
