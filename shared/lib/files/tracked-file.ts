// Whether git tracks a file: then it may have come with a checkout.

import { existsSync, readFileSync, statSync } from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'

const indexBytesMax = 256 * 1024 * 1024

/** Reads the index of the working tree around the file. Index version 4 shortens paths: false. */
export function isTracked(file: string): boolean {
  const path = resolve(file)
  for (let folder = dirname(path); ; folder = dirname(folder)) {
    const index = indexOf(folder)
    if (index !== undefined) return hasEntry(index, relative(folder, path))
    if (folder === dirname(folder)) return false
  }
}

/** Undefined: no working tree begins here. `.git` of a further working tree is a file. */
function indexOf(folder: string): string | undefined {
  const git = join(folder, '.git')
  const stat = statSync(git, { throwIfNoEntry: false })
  if (stat === undefined) return undefined
  if (stat.isDirectory()) return join(git, 'index')
  const [, place = ''] = /^gitdir: (.+)$/m.exec(readFileSync(git, 'utf8')) ?? []
  return join(resolve(folder, place), 'index')
}

function hasEntry(index: string, path: string): boolean {
  if (!existsSync(index) || statSync(index).size > indexBytesMax) return false
  return readFileSync(index).includes(`${path}\0`)
}
