// The texts of the tree that the prose lint reads.

import { readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'

const notOurs = /(?:^|\/)(?:node_modules|dist|out|\.git|fixtures)(?:\/|$)/

/** Markdown files and sources at or below `path`, as paths from `root`. */
export function textsIn(root: string, path: string): string[] {
  if (statSync(join(root, path)).isFile()) return [path]
  return readdirSync(join(root, path), { recursive: true, encoding: 'utf8' })
    .map((file) => join(path, file))
    .filter((file) => /\.(?:md|m?[jt]s)$/.test(file) && !notOurs.test(file))
    .sort()
}
