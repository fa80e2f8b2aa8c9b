// A file that is there as a whole or not at all, and that takes the place of another one only where somebody said so. Until it is whole it has another name.

import { accessSync, closeSync, constants, existsSync, fsyncSync, linkSync, openSync, renameSync, rmSync } from 'node:fs'
import { open } from 'node:fs/promises'
import { dirname } from 'node:path'
import { WeirError } from './errors.ts'

/** `force`: in the place of a file that is there. */
export type Place = { force: boolean }

/** To be asked before the work that the file is for. Throws `output.exists`, and `output.unwritable` where its folder cannot be written. */
export function refuseTaken(file: string, { force }: Place): void {
  if (existsSync(file)) {
    if (!force) throw taken(file)
  } else guarded(file, () => accessSync(dirname(file), constants.W_OK))
}

/** Makes an empty file beside `file`, and gives its name. Only this user may read it: conversations are nobody else's business. Throws `output.unwritable`. */
export function beginFile(file: string): string {
  const unfinished = `${file}.unfinished-${process.pid}`
  guarded(file, () => {
    rmSync(unfinished, { force: true })
    closeSync(openSync(unfinished, 'wx', 0o600)) // nobody's link is followed
  })
  return unfinished
}

/** Gives what is finished its name. Throws `output.exists` where a file has appeared since, and `output.unwritable`; then it is left as it is. */
export function nameFile(unfinished: string, file: string, { force }: Place): void {
  guarded(file, () => {
    syncFile(unfinished)
    if (force || !isLinked(unfinished, file)) renameSync(unfinished, file)
    else rmSync(unfinished)
  })
}

/** A link, other than a rename, does not take the place of anything. Some file systems know none. */
function isLinked(unfinished: string, file: string): boolean {
  try {
    linkSync(unfinished, file)
    return true
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST' || existsSync(file)) throw taken(file)
    return false
  }
}

/** Gives the bytes that were written. Throws `output.exists`, `output.unwritable`; then nothing is left of it. */
export async function writeWhole(file: string, pieces: Iterable<string>, place: Place): Promise<number> {
  const unfinished = beginFile(file)
  try {
    const handle = await open(unfinished, 'a')
    let bytes = 0
    try {
      for (const piece of pieces) {
        await handle.appendFile(piece) // `write` may write less than it is given
        bytes += Buffer.byteLength(piece)
      }
    } finally {
      await handle.close()
    }
    nameFile(unfinished, file, place)
    return bytes
  } catch (error) {
    throw refusal(file, error)
  } finally {
    rmSync(unfinished, { force: true })
  }
}

function syncFile(file: string): void {
  const descriptor = openSync(file, 'r+')
  try {
    fsyncSync(descriptor)
  } finally {
    closeSync(descriptor)
  }
}

function guarded(file: string, write: () => void): void {
  try {
    write()
  } catch (error) {
    throw refusal(file, error)
  }
}

function taken(file: string): WeirError {
  return new WeirError('output.exists', `${file} is there already: name another file (--output), or write over it with --force`)
}

/** What keeps `file` from being written. */
export function refusal(file: string, cause: unknown): WeirError {
  if (cause instanceof WeirError) return cause
  const { code, message } = cause as NodeJS.ErrnoException
  return new WeirError(
    'output.unwritable',
    `${file} cannot be written (${code ?? message}): name a place where this user may write (--output)`,
    {
      cause,
    },
  )
}
