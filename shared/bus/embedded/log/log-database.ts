// The open SQLite file of a log: its connection, its transactions, and its errors as WeirErrors.

import type { DatabaseSync } from 'node:sqlite'
import { asBusError } from '../failure.ts'
import { openForReading, openForWriting, type Synchronous } from '../file/open-file.ts'

export type DatabaseOptions = { file: string } & (
  | { readOnly: true }
  | { readOnly: false; synchronous: Synchronous }
)

export type LogDatabase = {
  readonly file: string
  readonly readOnly: boolean
  readonly db: DatabaseSync
  /** Runs `work` and throws WeirErrors only. */
  guarded<T>(work: () => T): T
  /** Runs `work` in one transaction. Rolls it back when `work` throws. */
  transaction<T>(work: () => T): T
  /** Bytes of the pages in use. */
  usedBytes(): number
  /** True if another connection has written since the last call. */
  changed(): boolean
  close(): void
}

/** Opens the file; for writing it also creates it. schema.ts lists the errors. */
export function openDatabase(options: DatabaseOptions): LogDatabase {
  const { file, readOnly } = options
  const db = readOnly
    ? openForReading(file)
    : openForWriting({ file, synchronous: options.synchronous })
  const begin = db.prepare('BEGIN IMMEDIATE')
  const commit = db.prepare('COMMIT')
  const rollback = db.prepare('ROLLBACK')
  const dataVersionNow = db.prepare('PRAGMA data_version')
  const pages = db.prepare(
    'SELECT (page_count - freelist_count) * page_size AS bytes FROM pragma_page_count, pragma_freelist_count, pragma_page_size',
  )
  let dataVersion: unknown

  function guarded<T>(work: () => T): T {
    try {
      return work()
    } catch (error) {
      throw asBusError(error, file)
    }
  }

  return {
    file,
    readOnly,
    db,
    guarded,

    transaction(work) {
      return guarded(() => {
        try {
          begin.run()
          const result = work()
          commit.run()
          return result
        } catch (error) {
          if (db.isTransaction) rollback.run()
          throw error
        }
      })
    },

    usedBytes: () => guarded(() => Number(pages.get()?.bytes)),

    changed() {
      const before = dataVersion
      dataVersion = guarded(() => dataVersionNow.get()?.data_version)
      return before !== dataVersion
    },

    close() {
      try {
        // Afterwards the file alone is the whole log. You can copy or mail it.
        if (!readOnly) db.exec('PRAGMA wal_checkpoint(TRUNCATE)')
      } catch {
        // The disk is full, or another process reads. The write-ahead log then stays next to the
        // file, and no record is lost.
      }
      db.close()
    },
  }
}
