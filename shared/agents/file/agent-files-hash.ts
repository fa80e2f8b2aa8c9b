// The hash of agent files, by which processes of a fleet compare theirs. The names of files do not count.

import { hash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { agentFilesAt } from './load-agents.ts'

/** Enough to tell files apart. */
const shownDigits = 12

/** Undefined: a file cannot be read, which the loading of agents reports. */
export function agentFilesHash(path: string): string | undefined {
  try {
    const { files } = agentFilesAt(path)
    const each = files.map((file) => hash('sha256', readFileSync(file)))
    return each.length === 0 ? undefined : hash('sha256', each.sort().join()).slice(0, shownDigits)
  } catch {
    return undefined
  }
}
