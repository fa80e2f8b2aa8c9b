// Access rights of files that hold conversations: only the user of the process.
// A file of another user is never changed, nor the target of a link. A folder with
// other files in it is reported, and not closed to its other users.

import {
  chmodSync,
  closeSync,
  existsSync,
  lstatSync,
  openSync,
  readdirSync,
  statSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { makeFolders } from './make-folders.ts'

/**
 * Makes the folder of `file` with mode 0700, or gives an existing one that mode if it holds only
 * files that `isOurs` names. Returns the folders that it made, innermost last. Throws the file
 * system's error for a folder that cannot be made.
 */
export function makePrivateFolder(file: string, isOurs: (name: string) => boolean): string[] {
  const folder = dirname(file)
  const made = makeFolders(folder, 0o700)
  if (othersReach(folder) && readdirSync(folder).every(isOurs)) closeToOthers(folder, 0o700)
  return made
}

/**
 * Creates `file` empty with mode 0600 if it is missing. Gives that mode to an existing one, and to
 * the existing files `beside` it. Does not open an existing file: closing it would drop this
 * process's locks on it. SQLite gives new side files the mode of their database.
 */
export function makePrivateFile(file: string, beside: readonly string[] = []): void {
  for (const one of reachedByOthers([file, ...beside]))
    if (statSync(one).isFile()) closeToOthers(one, 0o600)
  if (modeOf(file) !== undefined) return
  try {
    closeSync(openSync(file, 'wx', 0o600))
  } catch {
    // Another process made it first, or opening it reports the reason.
  }
}

/** The existing paths of these that the group or other users may read, write or enter. */
export function reachedByOthers(paths: readonly string[]): string[] {
  return paths.filter(othersReach)
}

/**
 * The wider paths of a folder: those that other users may read, write or enter, and
 * paths that another user owns. Looks at the folder, and at all below the names of `isOurs`. The modes
 * of links say nothing, so links are left out.
 */
export function widerThanUser(
  folder: string,
  isOurs: (name: string) => boolean,
): { open: string[]; foreign: string[] } {
  const all = existsSync(folder) ? [folder, ...pathsIn(folder, isOurs)] : []
  const isForeign = (path: string) =>
    (statSync(path, { throwIfNoEntry: false })?.uid ?? userHere()) !== userHere()
  return { open: reachedByOthers(all), foreign: all.filter(isForeign) }
}

function pathsIn(folder: string, isOurs: (name: string) => boolean): string[] {
  return readdirSync(folder, { withFileTypes: true })
    .filter((entry) => !entry.isSymbolicLink() && isOurs(entry.name))
    .flatMap((entry) => {
      const path = join(folder, entry.name)
      return entry.isDirectory() ? [path, ...pathsIn(path, () => true)] : [path]
    })
    .sort()
}

function userHere(): number | undefined {
  return process.getuid?.()
}

function othersReach(path: string): boolean {
  return ((modeOf(path) ?? 0) & 0o077) !== 0
}

function modeOf(path: string): number | undefined {
  return statSync(path, { throwIfNoEntry: false })?.mode
}

function closeToOthers(path: string, mode: number): void {
  try {
    const found = lstatSync(path)
    if (!found.isSymbolicLink() && found.uid === process.getuid?.()) chmodSync(path, mode)
  } catch {
    // A file system without modes. The doctor reports the access.
  }
}
