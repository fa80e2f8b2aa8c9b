// A file that is there as a whole or not at all, and that takes the place of another one only where
// somebody said so. Until it is whole it has another name.

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
} from 'node:fs'
import { open } from 'node:fs/promises'
import { dirname } from 'node:path'
import { isLogFile } from './application-id.ts'
import { WeirError } from './errors.ts'

/** `force`: in the place of a file that is there. */
export type Place = { force: boolean }

/**
 * To be asked before the work that the file is for. Nothing takes the place of a log, nor of
 * `reads`, what the work is made from. Throws `output.exists`, `output.unwritable` where its folder
 * cannot be written, and `usage` for `-`: whoever writes that means standard output, and would look
 * for it there.
 */
export function refuseTaken(
  file: string,
  { force, reads }: Place & { reads?: string | undefined },
): void {
  if (file === '-')
    throw new WeirError(
      'usage',
      'nothing is written to standard output: name a file (--output), or ./- for one of that name',
    )
  if (existsSync(file)) {
    if (!force) throw taken(file)
    if (isRegular(file) && guarded(file, () => isLogFile(file))) throw kept(file, 'a log of Weir')
    if (reads !== undefined && existsSync(reads) && realpathSync(reads) === realpathSync(file))
      throw kept(file, 'the file that is read')
  } else guarded(file, () => accessSync(dirname(file), constants.W_OK))
}

/**
 * Makes an empty file beside `file`, and gives its name. Only this user may read it: conversations
 * are nobody else's business. Throws `output.unwritable`.
 */
export function beginFile(file: string): string {
  const unfinished = `${file}.unfinished-${process.pid}`
  guarded(file, () => {
    rmSync(unfinished, { force: true })
    closeSync(openSync(unfinished, 'wx', 0o600)) // nobody's link is followed
  })
  return unfinished
}

/**
 * Gives what is finished its name. Throws `output.exists` where a file has appeared since, and
 * `output.unwritable`; then it is left as it is.
 */
export function nameFile(unfinished: string, file: string, { force }: Place): void {
  guarded(file, () => {
    syncFile(unfinished)
    if (force || !isLinked(unfinished, file)) renameSync(unfinished, file)
    else rmSync(unfinished)
  })
}

/**
 * A link, other than a rename, does not take the place of anything. Some file systems know none.
 */
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
 * Gives the bytes that were written. Throws `output.exists`, `output.unwritable`, and what making
 * `pieces` throws; then nothing is left of it.
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
        await done(file, handle.appendFile(piece)) // `write` may write less than it is given
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
 * Ctrl-C and SIGTERM end the process as if nobody had listened, and leave no half file; until the
 * returned function is called.
 */
function clearedOnSignal(unfinished: string): () => void {
  const signals = ['SIGINT', 'SIGTERM'] as const
  const clear = (signal: NodeJS.Signals): void => {
    stop()
    rmSync(unfinished, { force: true })
    if (process.listenerCount(signal) === 0) process.kill(process.pid, signal) // else somebody decides how to end
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

/** Of what writes `file`, and of nothing else. Throws as `refusal` says. */
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
    `${file} is there already: name another file (--output), or write over it with --force`,
  )
}

function kept(file: string, what: string): WeirError {
  return new WeirError(
    'output.exists',
    `${file} is ${what}, and nothing is written over that, also with --force: name another file (--output)`,
  )
}

function isRegular(file: string): boolean {
  return statSync(file).isFile()
}

/**
 * What keeps `file` from being written, as `output.unwritable`. What the file has nothing to do
 * with is a mistake of ours, and stays what it is.
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
  const why = isFull ? 'the disk is full' : isOfSqlite ? message : code
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
