// A folder made with those above it. Node's own `recursive` never comes back, and hears no signal, where a file system says of a folder that it cannot make
// that the one above it is not there, as /proc does: it makes that one again and again.

import { mkdirSync, statSync } from 'node:fs'
import { dirname, resolve } from 'node:path'

/** Nothing where it is there already. `mode`: of new ones. Throws what the file system says of the first that cannot be made. */
export function makeFolders(folder: string, mode = 0o777): void {
  const missing: string[] = []
  for (let one = resolve(folder); !isFolder(one); one = dirname(one)) missing.push(one)
  for (const one of missing.reverse()) makeFolder(one, mode)
}

/** Another process may have made it meanwhile. */
function makeFolder(folder: string, mode: number): void {
  try {
    mkdirSync(folder, { mode })
  } catch (error) {
    if (!isFolder(folder)) throw error
  }
}

function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false
}
