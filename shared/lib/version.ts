// The version of this Weir, as its package says.

import { readFileSync } from 'node:fs'
import { findPackageJSON } from 'node:module'

let known: string | undefined

/** `unknown` where no package is found around this file. */
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
