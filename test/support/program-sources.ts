// The files that the programs of tests are made of (programs.ts).

import { hash } from 'node:crypto'
import { globSync, readFileSync } from 'node:fs'
import { join, relative } from 'node:path'

const sources = [
  '{apps,client,services,shared}/**/{*,.*}',
  'bin/*',
  'schemas/lock.json',
  'package.json',
  // The packages that are installed. package-lock.json can be newer.
  'node_modules/.package-lock.json',
  'test/support/**/*.ts',
]

/** `tree`: the folder of a checkout. */
export function contentHash(tree: string): string {
  const files = globSync(sources, { cwd: tree, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .sort()
  const contents = files.map((file) => [relative(tree, file), hash('sha256', readFileSync(file))])
  return hash('sha256', JSON.stringify([process.version, contents])).slice(0, 32)
}
