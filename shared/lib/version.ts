// The version of this Weir and the Node.js that it needs, from its package.

import { existsSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { WeirError } from './errors.ts'

type Manifest = { version: string; engines: { node: string } }

let known: Manifest | undefined

/** `unknown` if this file is not in a package. */
export function version(): string {
  return manifest()?.version ?? 'unknown'
}

/** Throws `usage` on a Node.js that is too old. `running`: as process.versions.node. */
export function requireNode(running = process.versions.node): void {
  const needed = manifest()?.engines.node.replace('>=', '')
  if (needed === undefined || !isOlder(running, needed)) return
  throw new WeirError(
    'usage',
    `Node.js ${needed} or newer is needed, and this is ${running}: install a newer one (https://nodejs.org)`,
  )
}

function isOlder(running: string, needed: string): boolean {
  const [major = 0, minor = 0] = running.split('.').map(Number)
  const [leastMajor = 0, leastMinor = 0] = needed.split('.').map(Number)
  return major < leastMajor || (major === leastMajor && minor < leastMinor)
}

function manifest(): Manifest | undefined {
  known ??= read(import.meta.dirname)
  return known
}

/** From the nearest folder above. Not module.findPackageJSON: Bun has none. */
function read(folder: string): Manifest | undefined {
  const file = join(folder, 'package.json')
  if (existsSync(file)) return JSON.parse(readFileSync(file, 'utf8')) as Manifest
  return folder === dirname(folder) ? undefined : read(dirname(folder))
}
