// The file of the embedded bus: its SQL schema, and how to open it. You can read it with any SQLite
// tool:
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

import { existsSync, statSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { pathToFileURL } from 'node:url'
import type { TopicSpec } from '../../contract/bus.ts'
import { logApplicationId } from '../../lib/application-id.ts'
import { WeirError } from '../../lib/errors.ts'
import { makeFolders } from '../../lib/make-folders.ts'
import { asBusError, isFolderClosed, notADatabase } from './failure.ts'

/** `PRAGMA user_version`. A file with a higher one is refused. */
const schemaVersion = 1
/** SQLite's limit on the terms of a UNION ALL. The view of a topic is one. */
export const partitionsMax = 500
/**
 * SQLite copies the write-ahead log into the database every 4000 pages of 4 KiB. 16 MB instead of
 * 4 made appending with `normal` a tenth faster.
 */
const checkpointPages = 4000
/**
 * How long a statement waits for another program's lock. The wait blocks the process, so it is
 * short.
 */
const busyWaitMs = 1000

const schema = `
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

/**
 * How much a commit waits for the disk. When the process is killed (SIGKILL, a crash, the OOM
 * killer), no setting loses an acknowledged record. The operating system has the write-ahead log
 * before the acknowledgement, and a checksum reveals half a transaction. A power failure or a crash
 * of the operating system is different:
 * - `off`: the file may be damaged beyond opening. For tests, simulations and throw-away runs.
 * - `normal`: the file stays whole. The newest records may be missing, in order from the end: at
 *     most those since the last checkpoint (16 MB).
 * - `full`: no acknowledged record is lost, if the disk syncs truthfully. Every transaction waits
 *     for the disk.
 */
export type Synchronous = 'off' | 'normal' | 'full'

export type DatabaseOptions = {
  file: string
  synchronous: Synchronous
}

/**
 * Opens a file for writing, and makes it a Weir log if it is new or empty. The caller holds the
 * lock. Errors: `bus.not-a-database`, `bus.newer-version`, `bus.unwritable`, `bus.full`. It does not
 * change a file that is not a Weir log.
 */
export function openForWriting({ file, synchronous }: DatabaseOptions): DatabaseSync {
  return guarded(file, () => {
    const db = new DatabaseSync(file, { timeout: busyWaitMs, enableForeignKeyConstraints: false })
    return closedOnError(db, () => {
      const state = stateOf(db, file)
      db.exec(
        `PRAGMA journal_mode = WAL; PRAGMA synchronous = ${synchronous}; PRAGMA wal_autocheckpoint = ${checkpointPages}`,
      )
      db.exec(`PRAGMA journal_size_limit = ${checkpointPages * 4096}`)
      if (state === 'empty') db.exec(`BEGIN IMMEDIATE; ${schema} COMMIT;`)
      return db
    })
  })
}

/**
 * Opens a file for reading, also while another process writes it, and also in a folder without write
 * access (read-only media). Errors: as openForWriting. A missing file is `bus.not-a-database`.
 */
export function openForReading(file: string): DatabaseSync {
  if (!existsSync(file)) throw notADatabase(file, 'there is no such file')
  return guarded(file, () => {
    try {
      return verified(new DatabaseSync(file, { readOnly: true, timeout: busyWaitMs }), file)
    } catch (error) {
      // A reader also needs the index of the write-ahead log beside the file. If that log is empty,
      // the file alone has everything.
      if (!isFolderClosed(error) || hasContent(`${file}-wal`)) throw error
      const immutable = pathToFileURL(resolve(file))
      immutable.searchParams.set('immutable', '1')
      return verified(new DatabaseSync(immutable, { readOnly: true }), file)
    }
  })
}

/**
 * Throws if `file` exists and is not a Weir log of a known version. Changes nothing on the disk.
 */
export function checkBeforeWriting(file: string): void {
  if (!hasContent(file)) return
  guarded(file, () => {
    const db = new DatabaseSync(file, { readOnly: true, timeout: busyWaitMs })
    try {
      stateOf(db, file)
    } finally {
      db.close()
    }
  })
}

/** Creates the folder of `file` if it is missing. Returns the folders that it created. */
export function makeFolder(file: string): string[] {
  const folder = dirname(file)
  try {
    return makeFolders(folder, 0o700) // conversations are private
  } catch (error) {
    throw folderRefused(folder, error as Error)
  }
}

function folderRefused(folder: string, cause: Error): WeirError {
  return new WeirError(
    'bus.unwritable',
    `the folder ${folder} cannot be created (${cause.message}): name another one, or make its parent writable`,
    {
      cause,
    },
  )
}

function stateOf(db: DatabaseSync, file: string): 'empty' | 'weir' {
  const application = pragma(db, 'application_id')
  const version = pragma(db, 'user_version')
  const objects = Number(db.prepare('SELECT count(*) AS n FROM sqlite_schema').get()?.n)
  if (application === 0 && version === 0 && objects === 0) return 'empty'
  if (application !== logApplicationId)
    throw notADatabase(file, 'it is an SQLite database of another program')
  if (version > schemaVersion) {
    throw new WeirError(
      'bus.newer-version',
      `${file} has format ${version}, but this Weir knows formats up to ${schemaVersion}: use the newer Weir that wrote it, or name another file`,
    )
  }
  return 'weir'
}

function verified(db: DatabaseSync, file: string): DatabaseSync {
  return closedOnError(db, () => {
    if (stateOf(db, file) === 'empty') throw notADatabase(file, 'it is empty')
    return db
  })
}

function pragma(db: DatabaseSync, name: 'application_id' | 'user_version'): number {
  return Number(db.prepare(`PRAGMA ${name}`).get()?.[name])
}

function hasContent(file: string): boolean {
  return (statSync(file, { throwIfNoEntry: false })?.size ?? 0) > 0
}

function closedOnError(db: DatabaseSync, work: () => DatabaseSync): DatabaseSync {
  try {
    return work()
  } catch (error) {
    db.close()
    throw error
  }
}

function guarded<T>(file: string, work: () => T): T {
  try {
    return work()
  } catch (error) {
    throw asBusError(error, file)
  }
}
