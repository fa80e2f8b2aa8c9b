// A file that is there as a whole or not at all, and that takes the place of another one only where somebody said so.

import { constants } from 'node:fs'
import { access, link, open, rename, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { WeirError } from '../../../shared/errors.ts'
import { printable } from '../terminal/printable.ts'

/** To be asked before the work that the file is for. Throws `usage` where it cannot be written. */
export async function refuseExisting(file: string, force: boolean): Promise<void> {
  await access(dirname(file), constants.W_OK).catch((cause) => {
    throw refusal(file, cause)
  })
  if (force) return
  const isThere = await access(file).then(
    () => true,
    () => false,
  )
  if (isThere) throw taken(file)
}

/** Gives the bytes that were written. Throws `usage` where it cannot be written, or where it is there after all. */
export async function writeWhole(file: string, pieces: string[], force: boolean): Promise<number> {
  const beside = join(dirname(file), `.weir-${process.pid}.part`)
  try {
    await rm(beside, { force: true })
    const handle = await open(beside, 'wx', 0o600) // conversations are nobody else's business; and nobody's link is followed
    let bytes = 0
    try {
      for (const piece of pieces) {
        await handle.appendFile(piece) // `write` may write less than it is given
        bytes += Buffer.byteLength(piece)
      }
    } finally {
      await handle.close()
    }
    if (force) await rename(beside, file)
    else await link(beside, file) // refuses, where rename would not, a file that has appeared since
    return bytes
  } catch (cause) {
    throw refusal(file, cause as NodeJS.ErrnoException)
  } finally {
    await rm(beside, { force: true })
  }
}

function taken(file: string): WeirError {
  return new WeirError('usage', `${printable(file)} is there already: name another file (--output), or write over it with --force`)
}

function refusal(file: string, cause: NodeJS.ErrnoException): WeirError {
  if (cause.code === 'EEXIST') return taken(file)
  const message = `${printable(file)} cannot be written (${cause.code}): name a place where this user may write (--output)`
  return new WeirError('usage', message, { cause })
}
