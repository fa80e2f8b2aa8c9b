// A field is one word of a command as the command gets it, as far as it is known. Each unknown part
// is one character of Unicode's private use area. guard.ts refuses commands that contain such
// characters.

/** Any text, also empty, also with slashes. */
export const anything = '\uE000'
/** Any text that is a file name or a part of one: the match of `*`. */
export const anyName = '\uE001'
/** One character of such a name: the match of `?`. */
export const anyCharacter = '\uE002'
/** The name of a pipe from or to a command: the value of `<(…)`. */
export const pipeName = '\uE003'

/**
 * The number of a process that this shell started, as in `$!`. Linux gives no process a number above
 * 4194304, so a word that adds digits to this one names none.
 */
export const ownProcess = '4194305'

const placeholders = /[\uE000-\uE003]/

/** Whether every character of it is known. */
export function isPlain(field: string): boolean {
  return !placeholders.test(field)
}

/** Whether a part of it may be any text at all. */
export function isUnknown(field: string): boolean {
  return field.includes(anything)
}

/** The same field, with adjacent unknown parts merged into one of equal meaning. */
export function condensed(field: string): string {
  return field.replace(/[\uE000-\uE002]{2,}/g, (row) => (isUnknown(row) ? anything : row))
}

/** Replaces the characters with which Bash matches names. */
export function withNames(text: string): string {
  return text
    .replaceAll('*', anyName)
    .replaceAll('?', anyCharacter)
    .replace(/\[[^\]/]+\]/g, anyCharacter)
}

/**
 * Whether a name with `*` and `?` may be this one. As in Bash, they match no leading dot. The work
 * is at most the product of both lengths.
 */
export function mayBe(pattern: string, name: string): boolean {
  if (isPlain(pattern)) return pattern === name
  if (name[0] === '.' && pattern[0] !== '.' && pattern[0] !== anything) return false
  let [at, i, back, backName] = [0, 0, -1, 0]
  while (i < name.length) {
    const sign = pattern[at]
    if (sign !== undefined && (sign === name[i] || sign === anyCharacter)) {
      at++
      i++
    } else if (sign !== undefined && placeholders.test(sign)) {
      back = at++
      backName = i
    } else if (back >= 0) {
      at = back + 1
      i = ++backName
    } else {
      return false
    }
  }
  return [...pattern.slice(at)].every((sign) => sign !== anyCharacter && placeholders.test(sign))
}

/** The words of a list. */
export function list(text: string): string[] {
  return text.split(/\s+/).filter((word) => word !== '')
}

// ── Paths, by their text alone: a guard cannot see the disk ──

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

export function nameOf(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1)
}
