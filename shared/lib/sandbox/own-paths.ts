// The files of this Weir process that no sandboxed program may see or change: data folders, agent
// files, key files, and the programs of tools. For the whole process, because a tool must not reach
// the files of another agent either. No decision of a reducer depends on it.

import { resolve } from 'node:path'

/** `hidden`: invisible. `read-only`: visible where a folder around it is, never writable. */
export type Protection = 'hidden' | 'read-only'

const protections = new Map<string, Protection>()

/** Protects a file or folder from each sandbox that starts later. It need not exist yet. */
export function protectOwnPath(path: string, protection: Protection = 'hidden'): void {
  const absolute = resolve(path)
  if (protections.get(absolute) !== 'hidden') protections.set(absolute, protection)
}

/** All protected paths, absolute. */
export function ownPaths(): ReadonlyMap<string, Protection> {
  return protections
}
