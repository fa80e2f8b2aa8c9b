// Finds the sessions that agents have stored on this machine. Follows no link.

import { type Dirent, readdirSync, type Stats, statSync } from 'node:fs'
import { join } from 'node:path'
import type { Milliseconds } from '../../../shared/lib/clock.ts'
import { usageError } from '../../../shared/lib/errors.ts'
import { unreadable } from '../../../shared/settings/text-file.ts'
import type { StoredSessions } from '../../../shared/wire/format.ts'
import { fileFormats } from '../../../shared/wire/sessions.ts'
import { bundleAgent } from './bundle-sessions.ts'

/** `agents`: names of `sessionStores`, one of which wrote it. That of a bundle is `bundleAgent`. */
export type SessionFile = {
  file: string
  agents: readonly string[]
  bytes: number
  changedAt: Milliseconds
  /** Of a session that no file has. */
  content?: { name: string; read: () => string }
}

/** `unread`: folders that this user may not read, and folders below the deepest level. */
export type SessionFiles = { files: SessionFile[]; unread: string[] }

/** The agents whose sessions Weir finds, with their places. */
export const sessionStores: ReadonlyMap<string, StoredSessions> = new Map(
  [...fileFormats].flatMap(([name, { session }]) =>
    session?.stored === undefined ? [] : [[name, session.stored] as const],
  ),
)

/** Levels of folders below a place. */
const levelsMax = 8

/** Of the files in a place that the user names. */
const anySession = /\.(jsonl|db|sqlite|weir|messages\.json)$|(^|\/)session-[^/]*\.json$/

/** Folders of programs, whose files no agent wrote. */
const skipped = new Set(['node_modules', '.git'])

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
    const { file, depth } = store
    const levels = depth ?? levelsMax
    addFolder(found, '', { folder, agents: [agent], file, levels, isWhole: depth === undefined })
  }
  return newestFirst(found)
}

/** The sessions of a file or of a folder. Throws `usage` if the path cannot be read. */
export function sessionsAt(path: string, agents: readonly string[]): SessionFiles {
  const found: SessionFiles = { files: [], unread: [] }
  try {
    const stat = statSync(path)
    if (stat.isFile()) found.files.push(sessionFile(path, agents, stat))
    else readdirSync(path)
  } catch (error) {
    throw usageError(`${path} ${unreadable(error)}`, { cause: error })
  }
  if (found.files.length === 0)
    addFolder(found, '', {
      folder: path,
      agents,
      file: anySession,
      levels: levelsMax,
      isWhole: true,
    })
  return newestFirst(found)
}

/**
 * `file`: of the paths below `folder`. `levels`: of folders in it that count. `isWhole`: a deeper folder is
 * unread.
 */
type Walk = {
  folder: string
  agents: readonly string[]
  file: RegExp
  levels: number
  isWhole: boolean
}

/** `inside`: the folder's path below that of the walk, with a final slash. */
function addFolder({ files, unread }: SessionFiles, inside: string, walk: Walk): void {
  const { folder, agents, file, levels, isWhole } = walk
  const place = join(folder, inside)
  let entries: Dirent[]
  try {
    entries = readdirSync(place, { withFileTypes: true })
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') unread.push(place)
    return
  }
  for (const entry of entries) {
    const path = join(place, entry.name)
    if (entry.isDirectory() && !skipped.has(entry.name)) {
      if (levels > 0)
        addFolder({ files, unread }, `${inside}${entry.name}/`, { ...walk, levels: levels - 1 })
      else if (isWhole) unread.push(path)
    }
    if (!entry.isFile() || !file.test(inside + entry.name)) continue
    const stat = statSync(path, { throwIfNoEntry: false })
    if (stat !== undefined) files.push(sessionFile(path, agents, stat))
  }
}

function sessionFile(
  file: string,
  agents: readonly string[],
  { size, mtimeMs }: Stats,
): SessionFile {
  const own = file.endsWith('.weir') ? [bundleAgent] : likeliestFirst(file, agents)
  return { file, agents: own, bytes: size, changedAt: mtimeMs }
}

/** Formats resemble each other, so an agent that names its files in this way is tried first. */
function likeliestFirst(file: string, agents: readonly string[]): readonly string[] {
  const parts = file.split('/')
  const ends = parts.map((_, at) => parts.slice(at).join('/'))
  const fits = (agent: string) => ends.some((end) => sessionStores.get(agent)?.file.test(end))
  return [...agents.filter(fits), ...agents.filter((agent) => !fits(agent))]
}

function newestFirst({ files, unread }: SessionFiles): SessionFiles {
  return { files: files.toSorted((a, b) => b.changedAt - a.changedAt), unread }
}
