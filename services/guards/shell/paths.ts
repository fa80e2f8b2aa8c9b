// Resolves paths by their text alone. Symbolic links are not followed, because a guard cannot see
// the disk.

import { isPipe, isPlain, isUnknown, mayBe } from './field.ts'

/**
 * A path from the root without `.`, `..` and doubled slashes. Undefined: unknown. `folder`: the
 * start of a relative path.
 */
export function resolved(path: string, folder: string | undefined): string | undefined {
  if (isUnknown(path) || isPipe(path)) return undefined
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

export function isInside(path: string, folder: string): boolean {
  return path === folder || isBeneath(path, folder)
}

/** Inside, and not the folder itself. */
export function isBeneath(path: string, folder: string): boolean {
  return path !== folder && path.startsWith(folder === '/' ? '/' : `${folder}/`)
}

export function nameOf(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1)
}
