// A field is one word of a command as the command will get it, as far as that is known. What is not
// known stands in it as one character of Unicode's private use area; a command that brings such
// characters along is refused before (guard.ts).

/** Any text, also none, also with slashes. */
export const anything = '\uE000'
/** Any text that is the name of a file or a part of one: what `*` matches. */
export const anyName = '\uE001'
/** One character of such a name: what `?` matches. */
export const anyCharacter = '\uE002'
/** Any text, made of what came from the net. */
export const anythingFromNet = '\uE003'
/** The name of a pipe from or to a command: what `<(…)` stands for. */
export const pipeName = '\uE004'
/** The same where that command reads from the net. */
export const netPipeName = '\uE005'

const placeholders = /[\uE000-\uE005]/
const unknowns = /[\uE000\uE003]/

/** Whether a command's text uses one of these characters itself. */
export function hasPlaceholder(text: string): boolean {
  return placeholders.test(text)
}

export function isPlaceholder(code: number): boolean {
  return code >= 0xe000 && code <= 0xe005
}

/** The same with each row of parts that may be any text as one of them, which says as much. */
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

/** Whether it could be an option, or several words, of which nothing is known. */
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
 * Whether a name with `*` and `?` in it may be this one. As in Bash they match no leading dot. In
 * steps: at most the product of both lengths.
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
