// A field is one word of a command as the command gets it, as far as it is known. Each unknown part
// is one character of Unicode's private use area. guard.ts refuses commands that contain such
// characters. Paths are resolved by their text alone, because a guard cannot see the disk.

/** Any text, also empty, also with slashes. */
export const anything = '\uE000'
/** Any text that is a file name or a part of one, without a leading dot: the match of `*`. */
export const anyName = '\uE001'

/**
 * The number of a process that this shell started, as in `$!`. Linux gives no process a number above
 * 4194304, so a word that adds digits to this one names none.
 */
export const ownProcess = '4194305'

/** Whether every character of it is known. */
export function isPlain(field: string): boolean {
  return !/[\uE000\uE001]/.test(field)
}

/** Whether a part of it may be any text at all. */
export function isUnknown(field: string): boolean {
  return field.includes(anything)
}

/** The words of a list. */
export function list(text: string): string[] {
  return text.split(/\s+/).filter((word) => word !== '')
}

export function nameOf(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1)
}

/**
 * A path from the root without `.`, `..` and doubled slashes. Undefined: unknown. `folder`: the
 * start of a relative path.
 */
export function resolved(path: string, folder: string | undefined): string | undefined {
  if (isUnknown(path) || (!path.startsWith('/') && folder === undefined)) return undefined
  const parts: string[] = []
  for (const part of (path.startsWith('/') ? path : `${folder}/${path}`).split('/')) {
    if (part === '' || part === '.') continue
    if (part === '..') parts.pop()
    // `.*` may be `..`.
    else if (part.startsWith('.') && !isPlain(part)) return undefined
    else parts.push(part)
  }
  return `/${parts.join('/')}`
}
