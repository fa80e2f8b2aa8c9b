// The place of a process in its data folder: a file that it holds until it ends (locked-files.ts). The
// next process at the same place gets its name, and knows the owners that ended with it.
// An owner has ended only if the file that has it is free: its process cannot act any
// more. A file that was copied, or written before the machine started, proves nothing.
// Two processes never have one name: a copy of a file gets a new one.

import { randomUUID } from 'node:crypto'
import { existsSync, readFileSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import type { Logger } from 'pino'
import type { Clock, Milliseconds } from '../../../lib/clock.ts'
import { protectOwnPath } from '../../../lib/sandbox/own-paths.ts'
import type { DatabaseSync } from '../../sqlite.ts'
import { type LockedFile, numberedFiles, openFirstFree, openLocked } from './locked-files.ts'

export type ProcessPlace = {
  /** The same for each process at this place. */
  readonly name: string
  /** Keeps an owner as which this process acts. Call it before the owner acts. */
  addOwner(owner: string): void
  /** True only if the process of this owner has certainly ended. */
  hasEnded(owner: string): boolean
  close(): void
}

/** No claim of a process that ended so long ago is open. */
const ownerKeptMs = 7 * 24 * 60 * 60 * 1000
/** The least time between two looks at the files of other processes. */
const lookGapMs = 1_000

/** `time`: the time at which the next process found its process ended; 0: it may still run. */
const schema = `
  CREATE TABLE IF NOT EXISTS place (identity TEXT NOT NULL, name TEXT NOT NULL) STRICT;
  CREATE TABLE IF NOT EXISTS owners (owner TEXT PRIMARY KEY, time INTEGER NOT NULL) STRICT;
`

/** `path`: the begin of the files' names. Undefined: no file can be held, or the system has no boot id. */
export function openProcessPlace({
  path,
  clock,
  log,
}: {
  path: string
  clock: Clock
  log: Logger
}): ProcessPlace | undefined {
  const held = hold(path, log)
  if (held === undefined) return undefined
  protectOwnPath(dirname(path)) // a tool must not free or copy it
  const { db, file } = held
  const { name, owners: ended } = takeOver(db, file, clock.now())
  const insert = db.prepare('INSERT OR IGNORE INTO owners (owner, time) VALUES (?, 0)')
  let lookedAt = Number.NEGATIVE_INFINITY

  /** Files of processes that ended and have no next process yet. */
  function lookAtOthers(): void {
    if (clock.monotonic() - lookedAt < lookGapMs) return
    lookedAt = clock.monotonic()
    for (const other of numberedFiles(path))
      if (other !== file && existsSync(other)) for (const owner of ownersIn(other)) ended.add(owner)
  }

  return {
    name,

    addOwner(owner) {
      try {
        insert.run(owner)
      } catch (error) {
        log.warn(
          { err: error, file },
          'an owner could not be kept: its claims wait for their deadline',
        )
      }
    },

    hasEnded(owner) {
      if (!ended.has(owner)) lookAtOthers()
      return ended.has(owner)
    },

    close() {
      db.close()
    },
  }
}

function hold(path: string, log: Logger): LockedFile | undefined {
  if (bootId() === undefined) return undefined
  try {
    return openFirstFree(path, prepare, log)
  } catch (error) {
    log.warn(
      { err: error, path },
      'no file of this process can be held: after a kill its next start waits for the session',
    )
    return undefined
  }
}

/** The name of the place and the owners of former processes. A foreign file starts anew. */
function takeOver(
  db: DatabaseSync,
  file: string,
  now: Milliseconds,
): { name: string; owners: Set<string> } {
  const identity = identityOf(file)
  const found = db.prepare('SELECT identity, name FROM place').get()
  db.prepare('DELETE FROM owners WHERE time > 0 AND time < ?').run(Math.floor(now - ownerKeptMs))
  db.prepare('UPDATE owners SET time = ? WHERE time = 0').run(Math.floor(now))
  if (found?.identity === identity) return { name: String(found.name), owners: ownersOf(db) }
  const name = `weir-${randomUUID()}`
  db.exec('DELETE FROM place; DELETE FROM owners')
  db.prepare('INSERT INTO place (identity, name) VALUES (?, ?)').run(identity, name)
  return { name, owners: new Set() }
}

/** None if its process still holds it. */
function ownersIn(file: string): Set<string> {
  let db: DatabaseSync | undefined
  try {
    db = openLocked(file, prepare)
    const found = db.prepare('SELECT identity FROM place').get()
    return found?.identity === identityOf(file) ? ownersOf(db) : new Set()
  } catch {
    return new Set()
  } finally {
    db?.close()
  }
}

function ownersOf(db: DatabaseSync): Set<string> {
  return new Set(
    db
      .prepare('SELECT owner FROM owners')
      .all()
      .map(({ owner }) => String(owner)),
  )
}

function prepare(db: DatabaseSync): void {
  db.exec(schema)
}

/** The file itself, in this run of the machine. */
function identityOf(file: string): string {
  const { dev, ino } = statSync(file, { bigint: true })
  return `${bootId()}/${dev}/${ino}`
}

function bootId(): string | undefined {
  try {
    return readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()
  } catch {
    return undefined
  }
}
