// Finds the sessions that agents have stored on this machine. Follows no link.

import { type Dirent, readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import type { Milliseconds } from '../../../shared/lib/clock.ts'
import { usageError } from '../../../shared/lib/errors.ts'
import { unreadable } from '../../../shared/settings/text-file.ts'
import type { StoredSessions } from '../../../shared/wire/format.ts'
import { fileFormats } from '../../../shared/wire/formats.ts'

/** `agents`: names of `sessionStores`, one of which wrote it. */
export type SessionFile = {
  file: string
  agents: readonly string[]
  bytes: number
  changedAt: Milliseconds
}

/** `unread`: folders that this user may not read, and folders below the deepest level. */
export type SessionFiles = { files: SessionFile[]; unread: string[] }

/** The agents whose sessions Weir finds, with their places. */
export const sessionStores: ReadonlyMap<string, StoredSessions> = new Map(
  [...fileFormats].flatMap(([name, { session }]) =>
    session?.stored === undefined ? [] : [[name, session.stored] as const],
  ),
)

/** Levels below the given folder. */
const depthMax = 8

/** `agents`: names of `sessionStores`. `home`: the user's. The newest file is first. */
export function storedSessions(
  agents: readonly string[],
  { home, environment }: { home: string; environment: NodeJS.ProcessEnv },
): SessionFiles {
  const found: SessionFiles = { files: [], unread: [] }
  for (const agent of agents) {
    const store = sessionStores.get(agent)
    if (store === undefined) continue
    const own = environment[store.variable]
    const folder = join(
      own === undefined || own === '' ? join(home, store.home) : own,
      store.inside,
    )
    addFolder(found, folder, { agents: [agent], ending: store.ending, depth: 0 })
  }
  return newestFirst(found)
}

/** The sessions of a file or of a folder. Throws `usage` if the path cannot be read. */
export function sessionsAt(path: string, agents: readonly string[]): SessionFiles {
  const found: SessionFiles = { files: [], unread: [] }
  try {
    const stat = statSync(path)
    if (stat.isFile())
      found.files.push({ file: path, agents, bytes: stat.size, changedAt: stat.mtimeMs })
    else readdirSync(path)
  } catch (error) {
    throw usageError(`${path} ${unreadable(error)}`, { cause: error })
  }
  if (found.files.length === 0) addFolder(found, path, { agents, ending: '.jsonl', depth: 0 })
  return newestFirst(found)
}

type Walk = { agents: readonly string[]; ending: string; depth: number }

function addFolder({ files, unread }: SessionFiles, folder: string, walk: Walk): void {
  const { agents, ending, depth } = walk
  if (depth > depthMax) {
    unread.push(folder)
    return
  }
  let entries: Dirent[]
  try {
    entries = readdirSync(folder, { withFileTypes: true })
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') unread.push(folder)
    return
  }
  for (const entry of entries) {
    const path = join(folder, entry.name)
    if (entry.isDirectory()) addFolder({ files, unread }, path, { ...walk, depth: depth + 1 })
    if (!entry.isFile() || !entry.name.endsWith(ending)) continue
    const stat = statSync(path, { throwIfNoEntry: false })
    if (stat !== undefined)
      files.push({ file: path, agents, bytes: stat.size, changedAt: stat.mtimeMs })
  }
}

function newestFirst({ files, unread }: SessionFiles): SessionFiles {
  return { files: files.toSorted((a, b) => b.changedAt - a.changedAt), unread }
}
