// Credentials deep in the folders of a sandbox. A sandbox hides them directly in each folder only,
// because a search at each start would cost more than the start itself. The doctor searches.

import { type Dirent, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { credentialNames } from '../../../shared/lib/sandbox/mounts.ts'

const entriesMax = 20_000
/** Names of too many entries. Their packages and objects hold no credentials of their user. */
const skipped = new Set(['node_modules', '.git', '.venv'])
const names = new Set(credentialNames)

/**
 * The first `most` paths below the folders, without those directly in them. `isHidden`: of a path
 * that the sandbox hides, or shows on purpose. Follows no link, and ends after `entriesMax` entries.
 */
export function nestedCredentials(
  folders: readonly string[],
  isHidden: (path: string) => boolean,
  most = 3,
): string[] {
  const found = new Set<string>()
  const direct = new Set(folders.flatMap((folder) => [...names].map((name) => join(folder, name))))
  const open = [...folders]
  let left = entriesMax
  for (let folder = open.shift(); folder !== undefined && left > 0; folder = open.shift())
    for (const entry of entriesOf(folder)) {
      const path = join(folder, entry.name)
      left -= 1
      if (isHidden(path) || direct.has(path)) continue
      if (names.has(entry.name)) found.add(path)
      else if (entry.isDirectory() && !skipped.has(entry.name)) open.push(path)
      if (found.size >= most) return [...found]
    }
  return [...found]
}

/** Empty: it is a file, or its tool cannot read it either. */
function entriesOf(folder: string): Dirent[] {
  try {
    return readdirSync(folder, { withFileTypes: true })
  } catch {
    return []
  }
}
