// One writing process for each file. The lock is an open SQLite transaction on the sidecar
// `<file>-lock`. The operating system ends it with the process, so no lock is ever stale, and a new
// holder knows that the former one is dead. The one row of the sidecar names the holder.
// No other code of the holder's process may open and close the sidecar or the log with plain file
// calls, for example to copy it. POSIX drops all locks of a process on a file when the process closes
// any descriptor of it. Another process may, and so may `VACUUM INTO`.
// A sidecar that Weir did not make is refused. A link leads to a foreign file. A view in
// place of the table runs SQL of its maker, also without an end.

import { randomUUID } from 'node:crypto'
import { existsSync, lstatSync } from 'node:fs'
import { WeirError } from '../../../lib/errors.ts'
import { makePrivateFile } from '../../../lib/files/private-files.ts'
import { DatabaseSync } from '../../sqlite.ts'
import { asBusError, isBusy } from '../failure.ts'
import { distrust } from './distrust.ts'

export type FileLock = { release(): void }

/** How long to wait for a commit of the holder's row. */
const commitWaitMs = 2000

/**
 * Takes the lock of `file` for the life of this process, or until release(). Errors: `bus.locked`
 * when another process, or another bus in this one, holds it, with the holder's process id;
 * `bus.unwritable`, `bus.full`, `bus.not-a-database` when the sidecar cannot be used.
 */
export function lockFile(file: string): FileLock {
  const sidecar = `${file}-lock`
  let db: DatabaseSync | undefined
  try {
    refuseLink(sidecar)
    makePrivateFile(sidecar)
    db = new DatabaseSync(sidecar, { timeout: 0 })
    refuseForeign(db, sidecar)
    hold(db)
    const held = db
    return { release: () => held.close() }
  } catch (error) {
    const refused =
      db !== undefined && isBusy(error) ? locked(file, holderOf(db)) : asBusError(error, sidecar)
    db?.close()
    throw refused
  }
}

/** `pid`: the process that holds the lock, if known. */
export type LockState = { kind: 'free' } | { kind: 'held'; pid: number | undefined }

/**
 * Whether a process writes `file`. For processes that do not write it themselves (see above). Holds
 * the lock for less than a millisecond. Throws as lockFile if the sidecar cannot be used.
 */
export function lockStateOf(file: string): LockState {
  const sidecar = `${file}-lock`
  if (!existsSync(sidecar)) return { kind: 'free' }
  let db: DatabaseSync | undefined
  try {
    refuseLink(sidecar)
    db = new DatabaseSync(sidecar, { timeout: 0 })
    refuseForeign(db, sidecar)
    db.exec('BEGIN IMMEDIATE; ROLLBACK')
    return { kind: 'free' }
  } catch (error) {
    if (db !== undefined && isBusy(error)) return { kind: 'held', pid: holderOf(db) }
    throw asBusError(error, sidecar)
  } finally {
    db?.close()
  }
}

const holderTable =
  'holder (one INTEGER PRIMARY KEY CHECK (one = 1), pid INTEGER, since TEXT, token TEXT) STRICT'

function refuseLink(sidecar: string): void {
  if (lstatSync(sidecar, { throwIfNoEntry: false })?.isSymbolicLink() === true)
    throw foreign(sidecar, 'a link to another file')
}

/** An empty database is new. Its schema can be read while another process writes it. */
function refuseForeign(db: DatabaseSync, sidecar: string): void {
  distrust(db)
  const objects = db.prepare('SELECT name, sql FROM sqlite_schema').all()
  const other = objects.find(({ sql }) => sql !== `CREATE TABLE ${holderTable}`)
  if (other !== undefined) throw foreign(sidecar, `a database with ${JSON.stringify(other.name)}`)
}

function foreign(sidecar: string, what: string): WeirError {
  return new WeirError(
    'bus.foreign-schema',
    `the lock ${sidecar} is ${what}, which no Weir makes: remove it if the data folder is yours; otherwise do not use the folder`,
  )
}

/**
 * RESERVED, not EXCLUSIVE, so others can read the holder. A process commits its token first, and
 * has the lock only if it then finds that token under the lock.
 */
function hold(db: DatabaseSync): void {
  const token = randomUUID()
  for (;;) {
    db.exec('BEGIN IMMEDIATE')
    db.exec(`CREATE TABLE IF NOT EXISTS ${holderTable}`)
    if (db.prepare('SELECT token FROM holder').get()?.token === token) return
    db.prepare(
      "INSERT OR REPLACE INTO holder VALUES (1, ?, strftime('%Y-%m-%dT%H:%M:%fZ', 'now'), ?)",
    ).run(process.pid, token)
    db.exec(`PRAGMA busy_timeout = ${commitWaitMs}`)
    db.exec('COMMIT')
    db.exec('PRAGMA busy_timeout = 0')
  }
}

function holderOf(db: DatabaseSync): number | undefined {
  try {
    const pid = db.prepare('SELECT pid FROM holder').get()?.pid
    return typeof pid === 'number' ? pid : undefined
  } catch {
    return undefined // a write of it is under way
  }
}

function locked(file: string, pid: number | undefined): WeirError {
  if (pid !== undefined && !isAlive(pid))
    return new WeirError(
      'bus.locked',
      `a process without a Weir holds a lock on ${file}-lock; the last holder, process ${pid}, has ended. Find it with \`fuser ${file}-lock\`, and stop it`,
    )
  return new WeirError(
    'bus.locked',
    `${file} is open for writing in ${holderText(pid)}: stop that process first, or name another file`,
  )
}

function holderText(pid: number | undefined): string {
  if (pid === undefined) return 'another process'
  return pid === process.pid ? `this process (${pid})` : `process ${pid}`
}

/** Signal 0 only asks. EPERM: it runs, as another user. */
function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}
