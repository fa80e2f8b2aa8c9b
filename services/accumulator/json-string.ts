// Reads a string as models write it in almost-JSON, in one reading or none. Used for arguments
// (json-repair.ts) and for calls in text.
//
//     single-quotes      'b'                           with double quotes
//     control-character  a line end inside a string    as its escape
//     bad-escape         "C:\dir"                      the backslash is doubled
//
// If one backslash begins no escape, perhaps none of them does: in "C:\dir\new" the \n is a folder.
// Such a string is repaired only if none of its other escapes is ambiguous.

export type StringMending = 'single-quotes' | 'control-character' | 'bad-escape'

/**
 * `end`: the offset after the closing quote. `spelling`: the string in JSON, undefined if it needs
 * no change.
 */
export type JsonString = { end: number; spelling: string | undefined; how: StringMending[] }

/**
 * The string whose opening quote, of either kind, is at `from`. Undefined if it has no end or more
 * than one reading. Reads each character once.
 */
export function jsonString(text: string, from: number): JsonString | undefined {
  const quote = text.charCodeAt(from)
  const how = new Set<StringMending>()
  const pieces: string[] = []
  let copied = from + 1
  let isAmbiguous = false
  let at = from + 1
  let found = text.charCodeAt(at)
  const replace = (length: number, spelling: string): void => {
    pieces.push(text.slice(copied, at), spelling)
    copied = at + length
  }
  for (; at < text.length && found !== quote; found = text.charCodeAt(at)) {
    if (found < space) {
      replace(1, JSON.stringify(String.fromCharCode(found)).slice(1, -1))
      how.add('control-character')
    } else if (found === doubleQuote)
      replace(1, '\\"') // only inside single quotes
    else if (found === backslash) {
      const next = text[at + 1] ?? ''
      if (quote === singleQuote && next === "'") replace(2, "'")
      else if (
        next === 'u'
          ? /^[0-9a-f]{4}/i.test(text.slice(at + 2, at + 6))
          : next !== '' && 'bfnrt'.includes(next)
      )
        isAmbiguous = true
      else if (!'"\\/'.includes(next)) {
        replace(1, '\\\\')
        how.add('bad-escape')
        at -= 1 // the next character stands for itself
      }
      at += 1
    }
    at += 1
  }
  if (at >= text.length || (how.has('bad-escape') && isAmbiguous)) return undefined
  if (quote === singleQuote) how.add('single-quotes')
  if (how.size === 0) return { end: at + 1, spelling: undefined, how: [] }
  return { end: at + 1, spelling: `"${pieces.join('')}${text.slice(copied, at)}"`, how: [...how] }
}

const space = 0x20
const doubleQuote = 0x22
const singleQuote = 0x27
const backslash = 0x5c
