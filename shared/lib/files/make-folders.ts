// Makes a folder with its parents. Node's own `recursive` never returns on some file systems, such
// as /proc, and ignores signals meanwhile. There, a failed mkdir reports that the parent is
// missing, and Node makes the parent again and again.

import { mkdirSync, rmdirSync, statSync } from 'node:fs'
import { dirname, resolve } from 'node:path'

/**
 * Returns the folders that it made, innermost last: none if the folder exists. `mode` applies to
 * new folders. Throws the file system's error for the first folder that cannot be made.
 */
export function makeFolders(folder: string, mode = 0o777): string[] {
  const missing: string[] = []
  for (let one = resolve(folder); !isFolder(one); one = dirname(one)) missing.push(one)
  return missing.reverse().filter((one) => makeFolder(one, mode))
}

/** Removes the folders that makeFolders made, innermost first, up to the first non-empty one. */
export function removeEmptyFolders(made: readonly string[]): void {
  try {
    for (const folder of made.toReversed()) rmdirSync(folder)
  } catch {
    // In use, or removed already.
  }
}

/** False: another process made it first. */
function makeFolder(folder: string, mode: number): boolean {
  try {
    mkdirSync(folder, { mode })
    return true
  } catch (error) {
    if (!isFolder(folder)) throw error
    return false
  }
}

/** Also false for a broken link. */
export function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false
}
