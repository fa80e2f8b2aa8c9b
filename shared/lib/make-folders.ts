// A folder made with those above it. Node's own `recursive` never comes back, and hears no signal,
// where a file system says of a folder that it cannot make that the one above it is not there, as
// /proc does: it makes that one again and again.

import { mkdirSync, rmdirSync, statSync } from 'node:fs'
import { dirname, resolve } from 'node:path'

/**
 * Gives those that it made, the innermost last: none where it is there already. `mode`: of new
 * ones. Throws what the file system says of the first that cannot be made.
 */
export function makeFolders(folder: string, mode = 0o777): string[] {
  const missing: string[] = []
  for (let one = resolve(folder); !isFolder(one); one = dirname(one)) missing.push(one)
  return missing.reverse().filter((one) => makeFolder(one, mode))
}

/**
 * Those that makeFolders made, from the innermost on up to the first in which there is something by
 * now.
 */
export function removeEmptyFolders(made: readonly string[]): void {
  try {
    for (const folder of made.toReversed()) rmdirSync(folder)
  } catch {
    // It is in use, or gone.
  }
}

/** False: another process has made it meanwhile. */
function makeFolder(folder: string, mode: number): boolean {
  try {
    mkdirSync(folder, { mode })
    return true
  } catch (error) {
    if (!isFolder(folder)) throw error
    return false
  }
}

function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false
}
