// One writing process for each file. The lock is an open SQLite transaction on the sidecar
// `<file>-lock`: the operating system ends it with the process, however that ends, so there is
// nothing stale to clean up, and whoever gets it knows that the former holder is dead. The sidecar
// says in its one row who holds it. Nothing else in the holder's process may open and close the
// sidecar or the log with plain file calls (a copy, say): POSIX drops all locks of a process on a
// file when it closes any descriptor of it. Another process may, and so may `VACUUM INTO`.

import { randomUUID } from 'node:crypto'
import { existsSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'

import { WeirError } from '../../lib/errors.ts'
import { asBusError, isBusy } from './failure.ts'

export type FileLock = { release(): void }

/** A holder that was just being written is seen as it will be after this wait at most. */
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
    db = new DatabaseSync(sidecar, { timeout: 0 })
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

/** `pid`: of the process that holds it, where that can be told. */
export type LockState = { kind: 'free' } | { kind: 'held'; pid: number | undefined }

/**
 * Whether somebody writes `file`, for a process that does not write it itself (see above). To know
 * it, the lock is taken for less than a millisecond. Throws as lockFile where the sidecar cannot be
 * used.
 */
export function lockStateOf(file: string): LockState {
  const sidecar = `${file}-lock`
  if (!existsSync(sidecar)) return { kind: 'free' }
  let db: DatabaseSync | undefined
  try {
    db = new DatabaseSync(sidecar, { timeout: 0 })
    db.exec('BEGIN IMMEDIATE; ROLLBACK')
    return { kind: 'free' }
  } catch (error) {
    if (db !== undefined && isBusy(error)) return { kind: 'held', pid: holderOf(db) }
    throw asBusError(error, sidecar)
  } finally {
    db?.close()
  }
}

/**
 * RESERVED, not EXCLUSIVE: so others can read who holds it. The name is committed first, and only
 * who finds its own name under the lock has it.
 */
function hold(db: DatabaseSync): void {
  const token = randomUUID()
  for (;;) {
    db.exec('BEGIN IMMEDIATE')
    db.exec(
      'CREATE TABLE IF NOT EXISTS holder (one INTEGER PRIMARY KEY CHECK (one = 1), pid INTEGER, since TEXT, token TEXT) STRICT',
    )
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
    return undefined // it is just being written
  }
}

function locked(file: string, pid: number | undefined): WeirError {
  const holder =
    pid === undefined
      ? 'another process'
      : pid === process.pid
        ? `this process (${pid})`
        : `process ${pid}`
  return new WeirError(
    'bus.locked',
    `${file} is open for writing in ${holder}: stop that one first, name another file, or open this one read-only`,
  )
}
