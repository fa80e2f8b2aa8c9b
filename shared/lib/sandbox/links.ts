// A path with its symbolic links resolved one by one. A sandbox has to contain the links that lead
// to a folder. It must not follow a link that a sandboxed program may have written.

import { lstatSync, readlinkSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'

/** `path`: the place of the link. Its parent is a real path. `target`: its text. */
export type Link = { path: string; target: string }

/** As the kernel: more links are a loop. */
const linksMax = 40

/**
 * The real path, and the links on the way to it. `path` must be absolute. Throws the error of the
 * file system (`ENOENT`, `ELOOP`).
 */
export function followed(path: string): { real: string; links: Link[] } {
  const links: Link[] = []
  let real = '/'
  let rest = stepsOf(resolve(path))
  for (let step = rest.shift(); step !== undefined; step = rest.shift()) {
    const next = join(real, step)
    if (!lstatSync(next).isSymbolicLink()) {
      real = next
      continue
    }
    const target = readlinkSync(next)
    links.push({ path: next, target })
    if (links.length > linksMax)
      throw Object.assign(new Error(`too many links in ${path}`), { code: 'ELOOP' })
    rest = [...stepsOf(resolve(dirname(next), target)), ...rest]
    real = '/'
  }
  return { real, links }
}

/** Whether `path` is `folder` or lies in it. Both are absolute and normal. */
export function isIn(path: string, folder: string): boolean {
  return path === folder || path.startsWith(folder === '/' ? '/' : `${folder}/`)
}

function stepsOf(path: string): string[] {
  return path.split('/').filter((step) => step !== '')
}
