// Copies a log of the embedded bus to a backup, and makes a log of a backup.
// A backup is the log at one moment, also while a process writes the log: one read
// transaction of SQLite copies it.
// A backup is no log. Its own table keeps every process from running it before a
// restore has ended the open work.
// A restored log gets its name when it is whole, and never replaces another one.

import { existsSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { RecordToAppend } from '../../contract/bus.ts'
import type { Clock } from '../../lib/clock.ts'
import { removeEmptyFolders } from '../../lib/files/make-folders.ts'
import { makePrivateFile } from '../../lib/files/private-files.ts'
import { DatabaseSync } from '../sqlite.ts'
import { asBusError, notADatabase } from './failure.ts'
import { distrust } from './file/distrust.ts'
import { logFileIn } from './file/log-file.ts'
import { makeFolder, openBackup, openForReading } from './file/open-file.ts'
import { backupTable } from './file/schema.ts'
import { nameLog } from './import.ts'
import { openLog } from './log/log.ts'

/** `files`: further files of the data folder, by name. */
export type BackupContent = { madeAt: string; files: Record<string, Uint8Array> }

/** `to`: an empty file. Throws as openForReading, and SQLite's errors of writing. */
export function backUpLog(file: string, to: string, { madeAt, files }: BackupContent): void {
  const from = openForReading(file)
  try {
    from.prepare('VACUUM INTO ?').run(to)
  } finally {
    from.close()
  }
  const copy = new DatabaseSync(to)
  try {
    copy.exec(`BEGIN; ${backupTable}`)
    const insert = copy.prepare('INSERT INTO backup VALUES (?, ?)')
    insert.run(timeRow, Buffer.from(madeAt))
    for (const [name, content] of Object.entries(files)) insert.run(name, content)
    copy.exec('COMMIT')
  } finally {
    copy.close()
  }
}

/** No file of a data folder has this name. */
const timeRow = ''

/**
 * `ending`: the records that end the open work of the log in a folder. `files`: the names of further
 * files that a backup may hold.
 */
export type Restored = {
  backup: string
  dataFolder: string
  clock: Clock
  files: readonly string[]
  ending(dataFolder: string): Promise<RecordToAppend[]>
}

/** Returns the time of the backup; '' for a copy of a log. Throws `bus.*` and the errors of `ending`. */
export async function restoreLog({
  backup,
  dataFolder,
  clock,
  files: names,
  ending,
}: Restored): Promise<string> {
  checkPages(backup)
  const file = logFileIn(dataFolder)
  const made = makeFolder(file)
  const work = join(dataFolder, `weir.restoring-${process.pid}`)
  try {
    const unfinished = logFileIn(work)
    makeFolder(unfinished)
    const { madeAt, files } = copied(backup, unfinished)
    const records = await ending(work)
    const log = openLog({ file: unfinished, clock, readOnly: false, synchronous: 'full' })
    try {
      log.write({ records: log.stage(records), commits: [] })
    } finally {
      log.close()
    }
    for (const name of names) {
      const content = files[name]
      if (content !== undefined && !existsSync(join(dataFolder, name)))
        writeFileSync(join(dataFolder, name), content, { mode: 0o600, flag: 'wx', flush: true })
    }
    nameLog(unfinished, file)
    return madeAt
  } finally {
    rmSync(work, { recursive: true, force: true })
    removeEmptyFolders(made)
  }
}

function checkPages(backup: string): void {
  const db = openBackup(backup)
  try {
    const [fault] = db.prepare('PRAGMA integrity_check(1)').all()
    const text = fault?.integrity_check
    if (text !== 'ok') throw notADatabase(backup, `it is damaged: ${text}`)
  } catch (error) {
    throw asBusError(error, backup)
  } finally {
    db.close()
  }
}

/** As Date writes it. Somebody may have changed a backup. */
function isIsoTime(text: string): boolean {
  const time = new Date(text)
  return !Number.isNaN(time.getTime()) && time.toISOString() === text
}

/** Writes the log of a backup to `unfinished`, without the table of a backup. */
function copied(backup: string, unfinished: string): BackupContent {
  makePrivateFile(unfinished)
  const from = openBackup(backup)
  try {
    from.prepare('VACUUM INTO ?').run(unfinished)
  } catch (error) {
    throw asBusError(error, unfinished)
  } finally {
    from.close()
  }
  const db = new DatabaseSync(unfinished)
  try {
    distrust(db)
    const isBackup = db.prepare("SELECT 1 FROM sqlite_schema WHERE name = 'backup'").get()
    if (isBackup === undefined) return { madeAt: '', files: {} }
    const rows = db.prepare('SELECT name, content FROM backup').all()
    db.exec('DROP TABLE backup')
    const contents = rows.map(({ name, content }): [string, Uint8Array] => {
      if (content instanceof Uint8Array) return [String(name), content]
      throw notADatabase(backup, 'its table of files has a row without bytes')
    })
    const { [timeRow]: time = new Uint8Array(), ...files } = Object.fromEntries(contents)
    const madeAt = Buffer.from(time).toString()
    if (!isIsoTime(madeAt)) throw notADatabase(backup, 'its time is none')
    return { madeAt, files }
  } finally {
    db.close()
  }
}
