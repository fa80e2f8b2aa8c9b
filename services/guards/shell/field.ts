// A field is one word of a command as the command gets it, as far as it is known. Each unknown part
// is one character of Unicode's private use area. guard.ts refuses commands that contain such
// characters.

/** Any text, also empty, also with slashes. */
export const anything = '\uE000'
/** Any text that is a file name or a part of one: the match of `*`. */
export const anyName = '\uE001'
/** One character of such a name: the match of `?`. */
export const anyCharacter = '\uE002'
/** Any text, made from data of the net. */
export const anythingFromNet = '\uE003'
/** The name of a pipe from or to a command: the value of `<(…)`. */
export const pipeName = '\uE004'
/** The same if that command reads from the net. */
export const netPipeName = '\uE005'

const placeholders = /[\uE000-\uE005]/
const unknowns = /[\uE000\uE003]/

/** Whether a command's text contains one of these characters itself. */
export function hasPlaceholder(text: string): boolean {
  return placeholders.test(text)
}

export function isPlaceholder(code: number): boolean {
  return code >= 0xe000 && code <= 0xe005
}

/** The same field, with adjacent parts of any text merged into one of equal meaning. */
export function condensed(field: string): string {
  return unknowns.test(field)
    ? field.replace(/[\uE000-\uE003]{2,}/g, (row) =>
        row.includes(anythingFromNet) ? anythingFromNet : isUnknown(row) ? anything : row,
      )
    : field
}

/** Whether a part of it may be any text at all. */
export function isUnknown(field: string): boolean {
  return unknowns.test(field)
}

/** Whether it could be an unknown option, or several words. */
export function beginsUnknown(field: string): boolean {
  return field[0] === anything || field[0] === anythingFromNet
}

export function isFromNet(field: string): boolean {
  return field.includes(anythingFromNet) || field.includes(netPipeName)
}

export function isPipe(field: string): boolean {
  return field.includes(pipeName) || field.includes(netPipeName)
}

/** Whether every character of it is known. */
export function isPlain(field: string): boolean {
  return !placeholders.test(field)
}

/**
 * Whether a name with `*` and `?` may be this one. As in Bash, they match no leading dot. The work
 * is at most the product of both lengths.
 */
export function mayBe(pattern: string, name: string): boolean {
  if (pattern === name) return true
  if (!placeholders.test(pattern)) return false
  if (name[0] === '.' && pattern[0] !== '.' && !isUnknown(pattern[0] ?? '')) return false
  let at = 0
  let back = -1
  let backName = 0
  let i = 0
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
  while (
    at < pattern.length &&
    pattern[at] !== anyCharacter &&
    placeholders.test(pattern[at] as string)
  )
    at++
  return at === pattern.length
}
