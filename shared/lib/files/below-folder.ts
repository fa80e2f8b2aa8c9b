// Whether a path stays below a folder, with all links followed.

import { realpathSync } from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'
import { isIn } from '../sandbox/links.ts'

/** Both may be relative to the working folder. A path that is not there counts by its nearest folder. */
export function isBelowFolder(path: string, folder: string): boolean {
  const [real, top] = [realOf(resolve(path)), realOf(resolve(folder))]
  return real !== top && isIn(real, top)
}

function realOf(path: string): string {
  try {
    return realpathSync(path)
  } catch {
    const parent = dirname(path)
    return parent === path ? path : join(realOf(parent), basename(path))
  }
}
