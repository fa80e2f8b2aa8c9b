// The files of this Weir process that no sandboxed program may see or change: data folders, agent
// files, key files, and the programs of tools. For the whole process, because a tool must not reach
// the files of another agent either. No decision of a reducer depends on it.

import { existsSync, realpathSync } from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'
import { isIn } from './links.ts'

/** `hidden`: invisible. `read-only`: visible where a folder around it is, never writable. */
export type Protection = 'hidden' | 'read-only'

const protections = new Map<string, Protection>()
const agentFiles = new Set<string>()

/** Protects a file or folder from each sandbox that starts later. It need not exist yet. */
export function protectOwnPath(path: string, protection: Protection = 'hidden'): void {
  const absolute = resolve(path)
  if (protections.get(absolute) !== 'hidden') protections.set(absolute, protection)
}

/** Hides an agent file, and makes each folder around it read-only in each sandbox that starts later. */
export function protectAgentFile(path: string): void {
  protectOwnPath(path)
  agentFiles.add(resolve(path))
}

/**
 * An agent file of this process that is `path` or lies in it, also if it is a link from or to there.
 * `path`: absolute and real. Undefined: there is none.
 */
export function agentFileIn(path: string): string | undefined {
  return [...agentFiles].find((file) => placesOf(file).some((place) => isIn(place, path)))
}

function placesOf(file: string): string[] {
  const folder = dirname(file)
  const place = existsSync(folder) ? join(realpathSync(folder), basename(file)) : file
  return existsSync(file) ? [place, realpathSync(file)] : [place]
}

/** Whether a tool's program or packages lie directly in the folder. `path`: absolute and real. */
export function isProgramFolder(path: string): boolean {
  return [...protections].some(
    ([own, protection]) =>
      protection === 'read-only' && existsSync(own) && realpathSync(own) === path,
  )
}

/** All protected paths, absolute. */
export function ownPaths(): ReadonlyMap<string, Protection> {
  return protections
}
