// Resolves paths by their text alone. Symbolic links are not followed, because a guard cannot see
// the disk.

import { isPlain, isUnknown, mayBe, pipeName } from './field.ts'

/**
 * A path from the root without `.`, `..` and doubled slashes. Undefined: unknown. `folder`: the
 * start of a relative path.
 */
export function resolved(path: string, folder: string | undefined): string | undefined {
  if (isUnknown(path) || path.includes(pipeName)) return undefined
  const isAbsolute = path.startsWith('/')
  if (!isAbsolute && folder === undefined) return undefined
  const parts = isAbsolute ? [] : (folder as string).split('/').filter((part) => part !== '')
  for (const part of path.split('/')) {
    if (part === '' || part === '.') continue
    if (part === '..') parts.pop()
    // `.*` may be `..`.
    else if (!isPlain(part) && mayBe(part, '..')) return undefined
    else parts.push(part)
  }
  return `/${parts.join('/')}`
}

/** `orSame`: the folder itself counts as inside. */
export function isInside(path: string, folder: string, orSame: boolean): boolean {
  return path === folder ? orSame : path.startsWith(folder === '/' ? '/' : `${folder}/`)
}

export function nameOf(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1)
}
