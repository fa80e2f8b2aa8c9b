// The version of this Weir, from its package.

import { readFileSync } from 'node:fs'
import { findPackageJSON } from 'node:module'

let known: string | undefined

/** `unknown` if this file is not in a package. */
export function version(): string {
  known ??= read()
  return known
}

function read(): string {
  const file = findPackageJSON(import.meta.url)
  return file === undefined
    ? 'unknown'
    : (JSON.parse(readFileSync(file, 'utf8')) as { version: string }).version
}
