// Opens the file of the embedded bus. Refuses a file that is not a Weir log, or not only one.
// Nothing of a foreign file runs: no trigger, no view, no function of its schema.
// A file that is not a Weir log stays unchanged.

import { existsSync, statSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { WeirError } from '../../../lib/errors.ts'
import { logApplicationId } from '../../../lib/files/application-id.ts'
import { makePrivateFile, makePrivateFolder } from '../../../lib/files/private-files.ts'
import { DatabaseSync } from '../../sqlite.ts'
import { asBusError, isFolderClosed, notADatabase } from '../failure.ts'
import { distrust } from './distrust.ts'
import { foreignObject } from './foreign-object.ts'
import { filesOfLog, isNameBesideLog } from './log-file.ts'
import { schema, schemaVersion } from './schema.ts'

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
 * lock. Errors: `bus.not-a-database`, `bus.foreign-schema`, `bus.newer-version`, `bus.unwritable`, `bus.full`. It does not
 * change a file that is not a Weir log.
 */
export function openForWriting({ file, synchronous }: DatabaseOptions): DatabaseSync {
  return guarded(file, () => {
    if (file !== ':memory:') makePrivateFile(file, filesOfLog(file))
    const db = new DatabaseSync(file, { timeout: busyWaitMs, enableForeignKeyConstraints: false })
    return closedOnError(db, () => {
      distrust(db)
      const state = stateOf(db, file)
      db.exec(
        `PRAGMA journal_mode = WAL; PRAGMA synchronous = ${synchronous}; PRAGMA wal_autocheckpoint = ${checkpointPages}`,
      )
      db.exec('PRAGMA secure_delete = ON') // a deleted record leaves no bytes in its page
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
      // A reader also needs the index of the write-ahead log next to the file. If that log is empty,
      // the file alone has everything.
      if (!isFolderClosed(error) || hasContent(`${file}-wal`)) throw error
      const immutable = pathToFileURL(resolve(file))
      immutable.searchParams.set('immutable', '1')
      return verified(new DatabaseSync(immutable, { readOnly: true }), file)
    }
  })
}

/** Opens a backup, or a copy of a log, for reading. Errors: as openForReading. */
export function openBackup(file: string): DatabaseSync {
  if (!existsSync(file)) throw notADatabase(file, 'there is no such file')
  return guarded(file, () => {
    const db = new DatabaseSync(file, { readOnly: true, timeout: busyWaitMs })
    return verified(db, file, { isBackup: true })
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
      distrust(db)
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
    return makePrivateFolder(file, isNameBesideLog)
  } catch (error) {
    throw folderRefused(folder, error as Error)
  }
}

function folderRefused(folder: string, cause: Error): WeirError {
  const { code } = cause as NodeJS.ErrnoException
  if (code === 'EEXIST' || code === 'ENOTDIR')
    return new WeirError(
      'bus.unwritable',
      `the data folder ${folder} is a file, or a part of its path is: name a folder`,
      { cause },
    )
  return new WeirError(
    'bus.unwritable',
    `the folder ${folder} cannot be created (${cause.message}): name another one, or make its parent writable`,
    {
      cause,
    },
  )
}

/** `isBackup`: the file may be a backup. */
type Expected = { isBackup: boolean }

function stateOf(
  db: DatabaseSync,
  file: string,
  expected: Expected = { isBackup: false },
): 'empty' | 'weir' {
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
  const backup = db.prepare("SELECT 1 FROM sqlite_schema WHERE name = 'backup'").get()
  if (backup !== undefined && !expected.isBackup)
    throw notADatabase(file, 'it is a backup: make a log of it with weir restore')
  const foreign = foreignObject(db)
  if (foreign !== undefined)
    throw new WeirError(
      'bus.foreign-schema',
      `${file} has ${foreign}, which no Weir makes, and its maker could run SQL in this process. If it is yours, remove it with an SQLite tool; otherwise do not use the file`,
    )
  return 'weir'
}

function verified(db: DatabaseSync, file: string, expected?: Expected): DatabaseSync {
  return closedOnError(db, () => {
    distrust(db)
    if (stateOf(db, file, expected) === 'empty') throw notADatabase(file, 'it is empty')
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
