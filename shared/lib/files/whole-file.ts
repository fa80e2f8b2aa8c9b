// Writes a file completely or not at all, under another name until it is complete. It replaces an
// existing file only by force.

import { randomUUID } from 'node:crypto'
import {
  accessSync,
  closeSync,
  constants,
  existsSync,
  fsyncSync,
  linkSync,
  openSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { open } from 'node:fs/promises'
import { dirname } from 'node:path'
import { WeirError } from '../errors.ts'
import { isLogFile } from './application-id.ts'

/** `force`: replace an existing file. */
export type Place = { force: boolean }

/**
 * Call this before the work whose result the file holds. No file replaces a log, or one of `reads`,
 * the sources of the work. Throws `output.exists`, `output.unwritable` if the folder cannot be
 * written, and `usage` for `-`, which means standard output to most people.
 */
export function refuseTaken(
  file: string,
  { force, reads }: Place & { reads?: string | undefined },
): void {
  if (file === '-')
    throw new WeirError(
      'usage',
      'cannot write to standard output: name a file (--output), or ./- for a file with that name',
    )
  if (existsSync(file)) {
    if (!force) throw taken(file)
    if (isRegular(file) && guarded(file, () => isLogFile(file))) throw kept(file, 'a log of Weir')
    if (reads !== undefined && existsSync(reads) && realpathSync(reads) === realpathSync(file))
      throw kept(file, 'the file that is read')
  } else guarded(file, () => accessSync(dirname(file), constants.W_OK))
}

/**
 * Makes an empty file next to `file` and returns its name. Only this user may read it, because
 * conversations are private. Throws `output.unwritable`.
 */
export function beginFile(file: string): string {
  const unfinished = `${file}.unfinished-${process.pid}`
  guarded(file, () => {
    rmSync(unfinished, { force: true })
    closeSync(openSync(unfinished, 'wx', 0o600)) // wx follows no link
  })
  return unfinished
}

/**
 * Gives the finished file its name. Throws `output.exists` if a file has appeared since, or
 * `output.unwritable`. Then it leaves both files as they are.
 */
export function nameFile(unfinished: string, file: string, { force }: Place): void {
  guarded(file, () => {
    syncFile(unfinished)
    if (force || !isLinked(unfinished, file)) renameSync(unfinished, file)
    else rmSync(unfinished)
  })
}

/** Writes a small file whole, in place of an existing one. Throws `output.unwritable`. */
export function replaceFile(file: string, text: string, { mode }: { mode: number }): void {
  const unfinished = `${file}.unfinished-${randomUUID()}`
  guarded(file, () => {
    try {
      writeFileSync(unfinished, text, { mode, flag: 'wx', flush: true })
      renameSync(unfinished, file)
    } finally {
      rmSync(unfinished, { force: true })
    }
  })
}

/** Unlike a rename, a link replaces nothing. Some file systems have no links. */
function isLinked(unfinished: string, file: string): boolean {
  try {
    linkSync(unfinished, file)
    return true
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST' || existsSync(file)) throw taken(file)
    return false
  }
}

/**
 * Returns the number of bytes written. Throws `output.exists`, `output.unwritable` and the errors
 * of `pieces`. Then it leaves no file.
 */
export async function writeWhole(
  file: string,
  pieces: Iterable<string>,
  place: Place,
): Promise<number> {
  const unfinished = beginFile(file)
  const stopClearing = clearedOnSignal(unfinished)
  try {
    const handle = await done(file, open(unfinished, 'a'))
    let bytes = 0
    try {
      for (const piece of pieces) {
        await done(file, handle.appendFile(piece)) // `write` may write fewer bytes
        bytes += Buffer.byteLength(piece)
      }
    } finally {
      await done(file, handle.close())
    }
    nameFile(unfinished, file, place)
    return bytes
  } finally {
    stopClearing()
    rmSync(unfinished, { force: true })
  }
}

/**
 * Until the returned function is called, Ctrl-C and SIGTERM remove the unfinished file and then end
 * the process as usual.
 */
function clearedOnSignal(unfinished: string): () => void {
  const signals = ['SIGINT', 'SIGTERM'] as const
  const clear = (signal: NodeJS.Signals): void => {
    stop()
    rmSync(unfinished, { force: true })
    if (process.listenerCount(signal) === 0) process.kill(process.pid, signal) // otherwise another listener ends it
  }
  const stop = (): void => {
    for (const signal of signals) process.off(signal, clear)
  }
  for (const signal of signals) process.on(signal, clear)
  return stop
}

function syncFile(file: string): void {
  const descriptor = openSync(file, 'r+')
  try {
    fsyncSync(descriptor)
  } finally {
    closeSync(descriptor)
  }
}

async function done<T>(file: string, doing: Promise<T>): Promise<T> {
  try {
    return await doing
  } catch (error) {
    throw refusal(file, error)
  }
}

/** Runs `write`, which only writes `file`, and throws its errors as `refusal` gives them. */
export function guarded<T>(file: string, write: () => T): T {
  try {
    return write()
  } catch (error) {
    throw refusal(file, error)
  }
}

function taken(file: string): WeirError {
  return new WeirError(
    'output.exists',
    `${file} exists already: name another file, or overwrite it with --force`,
  )
}

function kept(file: string, kind: string): WeirError {
  return new WeirError(
    'output.exists',
    `${file} is ${kind}, which is never overwritten, not even with --force: name another file (--output)`,
  )
}

function isRegular(file: string): boolean {
  return statSync(file).isFile()
}

/**
 * Turns an error of writing `file` into `output.unwritable`. Errors that do not concern the file
 * are mistakes of ours and stay as they are.
 */
export function refusal(file: string, cause: unknown): unknown {
  const {
    code,
    errno,
    errcode = 0,
    message,
  } = cause as NodeJS.ErrnoException & { errcode?: number }
  const isOfSqlite = code === 'ERR_SQLITE_ERROR'
  const sqliteCode = errcode & 0xff
  if (isOfSqlite ? !sqliteOfFile.has(sqliteCode) : errno === undefined) return cause
  const isFull = isOfSqlite ? sqliteCode === sqliteFull : code === 'ENOSPC'
  const fault = isOfSqlite ? message : code
  const why = isFull ? 'the disk is full' : fault
  const advice = isFull
    ? 'make room there, or name another place'
    : 'name a place where this user may write'
  return new WeirError(
    'output.unwritable',
    `${file} cannot be written (${why}): ${advice} (--output)`,
    { cause },
  )
}

// Primary result codes, https://sqlite.org/rescode.html: perm, busy, locked, readonly, ioerr,
// corrupt, full, cantopen.
const sqliteFull = 13
const sqliteOfFile = new Set([3, 5, 6, 8, 10, 11, sqliteFull, 14])
