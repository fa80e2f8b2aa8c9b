// Stores the tables that a process reads: the newest record of each key, for each (topic,
// partition), in a SQLite file of the process. It is a copy: lost or damaged data is read from the
// topic again.
// Records and the offset after them are written in one transaction, so a restart
// continues exactly there.
// A process locks the first free file of its folder until it ends, and finds it
// again after a restart. If all are locked, it stays in memory.

import { join } from 'node:path'
import type { SQLInputValue } from 'node:sqlite'
import type { Logger } from 'pino'
import type { Offset, StoredRecord, TableKey } from '../../../contract/bus.ts'
import type { Clock, Milliseconds } from '../../../lib/clock.ts'
import { prefixEnd } from '../../prefix-end.ts'
import type { DatabaseSync } from '../../sqlite.ts'
import { type LockedFile, openFirstFree, openLocked } from './locked-files.ts'

export type TableName = { topic: string; partition: number }

export type StoredTable = {
  readonly name: TableName
  /** The offset from which to read on. */
  readonly next: Offset
  /** Writes the records between the last write and `next`. */
  write(records: StoredRecord[], next: Offset): void
  newest(key: string): StoredRecord | undefined
  newestWithPrefix(prefix: string): StoredRecord[]
  keys(range: { after?: string | undefined; limit: number }): TableKey[]
  /** The copy was just compared with the end of the topic: it is current. */
  confirm(): void
}

export type TableStore = {
  /** The file. Undefined in memory. */
  readonly file: string | undefined
  /**
   * The stored copy of a table. It is empty if nothing is stored, if another topic had that name, or
   * if it is ahead of `end`. It is empty too if it is so old that it may have missed tombstones.
   */
  table(name: TableName & { topicId: string | undefined; end: Offset }): StoredTable
  close(): void
}

/** Raise it when the tables below change. A file of another version is recreated. */
const schemaVersion = 1
/** Kafka keeps a tombstone for at least a day by default (delete.retention.ms). */
const unconfirmedMsMax = 20 * 60 * 60 * 1000

const schema = `
  CREATE TABLE views (
    number INTEGER PRIMARY KEY,
    topic TEXT NOT NULL,
    partition INTEGER NOT NULL,
    topic_id TEXT, -- NULL: the brokers have no ids
    next INTEGER NOT NULL, -- the offset behind the stored records
    confirmed INTEGER NOT NULL, -- when the copy was last current, in milliseconds since 1970
    UNIQUE (topic, partition)
  ) STRICT;
  CREATE TABLE entries (
    view INTEGER NOT NULL REFERENCES views (number),
    key TEXT NOT NULL,
    offset INTEGER NOT NULL,
    time INTEGER NOT NULL,
    id TEXT,
    value BLOB NOT NULL,
    UNIQUE (view, key)
  ) STRICT;
  PRAGMA user_version = ${schemaVersion};
`

type Row = [key: string, offset: number, time: Milliseconds, id: string | null, value: Uint8Array]

export function openTableStore({
  folder,
  clock,
  log,
}: {
  folder: string | undefined
  clock: Clock
  log: Logger
}): TableStore {
  const found = folder === undefined ? undefined : openFirst(folder, log)
  const { db, file } = found ?? { db: openLocked(':memory:', prepare), file: undefined }
  const statements = prepareStatements(db)

  function transaction(work: () => void): void {
    db.exec('BEGIN')
    try {
      work()
      db.exec('COMMIT')
    } catch (error) {
      if (db.isTransaction) db.exec('ROLLBACK')
      throw error
    }
  }

  return {
    file,

    table({ topic, partition, topicId, end }) {
      const name = { topic, partition }
      const found = statements.find.get(topic, partition)
      const isSound =
        found !== undefined &&
        topicId !== undefined &&
        found.topic_id === topicId &&
        Number(found.next) <= end &&
        clock.now() - Number(found.confirmed) < unconfirmedMsMax
      if (isSound) return stored(name, Number(found.number), Number(found.next))
      let number = 0
      transaction(() => {
        if (found !== undefined) {
          statements.forget.run(found.number as SQLInputValue)
          statements.drop.run(found.number as SQLInputValue)
        }
        number = Number(statements.add.run(topic, partition, topicId ?? null).lastInsertRowid)
      })
      return stored(name, number, 0)
    },

    close() {
      db.close()
    },
  }

  function stored(name: TableName, number: number, from: Offset): StoredTable {
    let next = from
    const record = ([key, offset, time, id, value]: Row): StoredRecord => ({
      ...name,
      key,
      value,
      id: id ?? undefined,
      offset,
      time,
    })
    const key = (row: Record<string, unknown>): TableKey => ({
      key: String(row.key),
      offset: Number(row.offset),
      time: Number(row.time),
    })

    return {
      name,
      get next() {
        return next
      },

      write(records, behind) {
        transaction(() => {
          for (const each of records) {
            if (each.value === null) statements.remove.run(number, each.key)
            else
              statements.put.run(
                number,
                each.key,
                each.offset,
                each.time,
                each.id ?? null,
                each.value,
              )
          }
          statements.move.run(behind, Math.floor(clock.now()), number)
        })
        next = behind
      },

      newest(wanted) {
        const row = statements.newest.get(number, wanted) as unknown as Row | undefined
        return row === undefined ? undefined : record(row)
      },

      newestWithPrefix(prefix) {
        return (statements.prefix.all(number, prefix, prefixEnd(prefix)) as unknown as Row[]).map(
          record,
        )
      },

      keys({ after, limit }) {
        const rows =
          after === undefined
            ? statements.firstKeys.all(number, limit)
            : statements.keys.all(number, after, limit)
        return rows.map(key)
      },

      confirm() {
        statements.move.run(next, Math.floor(clock.now()), number)
      },
    }
  }
}

function prepareStatements(db: DatabaseSync) {
  const statements = {
    find: db.prepare(
      'SELECT number, topic_id, next, confirmed FROM views WHERE topic = ? AND partition = ?',
    ),
    add: db.prepare(
      'INSERT INTO views (topic, partition, topic_id, next, confirmed) VALUES (?, ?, ?, 0, 0)',
    ),
    forget: db.prepare('DELETE FROM entries WHERE view = ?'),
    drop: db.prepare('DELETE FROM views WHERE number = ?'),
    move: db.prepare('UPDATE views SET next = ?, confirmed = ? WHERE number = ?'),
    put: db.prepare(
      'INSERT OR REPLACE INTO entries (view, key, offset, time, id, value) VALUES (?, ?, ?, ?, ?, ?)',
    ),
    remove: db.prepare('DELETE FROM entries WHERE view = ? AND key = ?'),
    newest: db.prepare(
      'SELECT key, offset, time, id, value FROM entries WHERE view = ? AND key = ?',
    ),
    prefix: db.prepare(
      'SELECT key, offset, time, id, value FROM entries WHERE view = ? AND key >= ? AND key < ? ORDER BY key',
    ),
    keys: db.prepare(
      'SELECT key, offset, time FROM entries WHERE view = ? AND key > ? ORDER BY key LIMIT ?',
    ),
    firstKeys: db.prepare(
      'SELECT key, offset, time FROM entries WHERE view = ? ORDER BY key LIMIT ?',
    ),
  }
  for (const statement of [statements.newest, statements.prefix]) statement.setReturnArrays(true)
  return statements
}

function openFirst(folder: string, log: Logger): LockedFile | undefined {
  try {
    const found = openFirstFree(join(folder, 'tables'), prepare, log)
    if (found !== undefined) return found
    log.warn(
      { folder },
      'all table files are in use: tables stay in memory, and are read again after a restart',
    )
  } catch (error) {
    log.warn(
      { err: error, folder },
      'no table file can be written: tables stay in memory, and are read again after a restart',
    )
  }
  return undefined
}

function prepare(db: DatabaseSync): void {
  db.exec('PRAGMA secure_delete = ON') // a deleted key or history leaves no bytes in its page
  const version = Number(db.prepare('PRAGMA user_version').get()?.user_version)
  if (version === schemaVersion) return
  if (version !== 0) db.exec('DROP TABLE IF EXISTS entries; DROP TABLE IF EXISTS views')
  db.exec(schema)
}
