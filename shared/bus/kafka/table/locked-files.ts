// SQLite files that one process at a time holds, by a lock that ends with the process. The files of a
// folder have numbers, and a process takes the first free one.
// The lock is held until the database is closed. The system releases it when the
// process ends, however it ends.

import { rmSync } from 'node:fs'
import { dirname } from 'node:path'
import type { Logger } from 'pino'
import { makeFolders } from '../../../lib/files/make-folders.ts'
import { makePrivateFile } from '../../../lib/files/private-files.ts'
import { DatabaseSync } from '../../sqlite.ts'

export type LockedFile = { db: DatabaseSync; file: string }

/** The most files of one kind in a folder. */
const filesMax = 64

/** The paths of all files that begin with `path`. */
export function numberedFiles(path: string): string[] {
  return Array.from({ length: filesMax }, (_, n) => `${path}-${n}.db`)
}

/**
 * Undefined if other processes hold all of them. A damaged file is recreated. `prepare` creates the
 * tables. Throws the error of the system or of SQLite.
 */
export function openFirstFree(
  path: string,
  prepare: (db: DatabaseSync) => void,
  log: Logger,
): LockedFile | undefined {
  makeFolders(dirname(path), 0o700) // conversations are private
  for (const file of numberedFiles(path)) {
    const db = openUnlessLocked(file, prepare, log)
    if (db !== undefined) return { db, file }
  }
  return undefined
}

/** Undefined if another process has locked it. Recreates a damaged file. */
function openUnlessLocked(
  file: string,
  prepare: (db: DatabaseSync) => void,
  log: Logger,
): DatabaseSync | undefined {
  try {
    return openLocked(file, prepare)
  } catch (error) {
    const code = (error as { errcode?: number }).errcode ?? 0
    if ((code & 0xff) === sqliteBusy) return undefined
    if (![sqliteCorrupt, sqliteNotADatabase].includes(code & 0xff)) throw error
    log.warn({ err: error, file }, 'the file is damaged; recreating it')
    removeFile(file)
    return openLocked(file, prepare)
  }
}

/** Throws if another process holds it. */
export function openLocked(file: string, prepare: (db: DatabaseSync) => void): DatabaseSync {
  if (file !== ':memory:') makePrivateFile(file)
  const db = new DatabaseSync(file)
  try {
    // The content may be lost in a power failure, so no write waits for the disk.
    db.exec(
      'PRAGMA locking_mode = EXCLUSIVE; PRAGMA journal_mode = WAL; PRAGMA synchronous = OFF; BEGIN EXCLUSIVE; COMMIT',
    )
    prepare(db)
    return db
  } catch (error) {
    db.close()
    throw error
  }
}

function removeFile(file: string): void {
  for (const ending of ['', '-wal', '-shm', '-journal']) rmSync(file + ending, { force: true })
}

const sqliteBusy = 5
const sqliteCorrupt = 11
const sqliteNotADatabase = 26
