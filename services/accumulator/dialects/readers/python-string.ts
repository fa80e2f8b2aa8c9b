// Reads a Python string as a JSON string of the same value: all quotes, the prefixes r and u, and
// Python's escapes. An unknown escape keeps its backslash, as in every version of Python so far.

import { type Cursor, skipMatch } from './cursor.ts'

/** Prefixes of bytes, f-strings and templates do not match: those are no texts. */
const openHere = /([rR]|[uU])?("""|'''|"|')/y

/** The cursor moves only behind a string. Undefined: there is none, or it has half a character. */
export function pythonString(cursor: Cursor): string | undefined {
  const from = cursor.at
  const [, prefix = '', quote] = skipMatch(cursor, openHere) ?? []
  const value =
    quote === undefined ? undefined : contents(cursor, quote, prefix.toLowerCase() === 'r')
  if (value?.isWellFormed()) return JSON.stringify(value)
  cursor.at = from
  return undefined
}

/** The characters up to the next quote, backslash or line end. */
const plainHere = /[^"'\\\r\n]+/y
const lineEndHere = /\r\n?|\n/y

/** Moves behind the closing quote. Python reads every line end in its source as a line feed. */
function contents(cursor: Cursor, quote: string, isRaw: boolean): string | undefined {
  const pieces: string[] = []
  while (cursor.at < cursor.text.length) {
    if (cursor.text.startsWith(quote, cursor.at)) {
      cursor.at += quote.length
      return pieces.join('')
    }
    const piece =
      skipMatch(cursor, plainHere)?.[0] ??
      (cursor.text[cursor.at] === '\\' ? escaped(cursor, isRaw) : otherCharacter(cursor, quote))
    if (piece === undefined) return undefined
    pieces.push(piece)
  }
  return undefined
}

/** A quote of the other kind, or a line end, which only a triple quote allows. */
function otherCharacter(cursor: Cursor, quote: string): string | undefined {
  if (skipMatch(cursor, lineEndHere) !== undefined) return quote.length === 3 ? '\n' : undefined
  cursor.at += 1
  return cursor.text[cursor.at - 1]
}

/** Escapes of one character, by the character. */
const single = new Map(Object.entries({ a: '\x07', b: '\b', f: '\f', n: '\n', r: '\r', t: '\t' }))
single.set('v', '\v')
for (const same of ['\\', "'", '"']) single.set(same, same)
const octalHere = /[0-7]{1,3}/y
const hexHere = /x([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})/y

/** The cursor is at the backslash. In a raw string both characters stand for themselves. */
function escaped(cursor: Cursor, isRaw: boolean): string | undefined {
  cursor.at += 1
  if (skipMatch(cursor, lineEndHere) !== undefined) return isRaw ? '\\\n' : ''
  const next = cursor.text[cursor.at]
  if (next === undefined) return undefined
  if (!isRaw) {
    const [octal] = skipMatch(cursor, octalHere) ?? []
    if (octal !== undefined) return String.fromCharCode(Number.parseInt(octal, 8))
    if ('xuUN'.includes(next)) return codePoint(cursor)
  }
  cursor.at += 1
  return isRaw ? `\\${next}` : (single.get(next) ?? `\\${next}`)
}

/** Half characters have no bytes, so a pair of them must not become a whole one either. */
function codePoint(cursor: Cursor): string | undefined {
  const [, two, four, eight] = skipMatch(cursor, hexHere) ?? []
  const point = Number.parseInt(two ?? four ?? eight ?? '', 16)
  const isCharacter = point <= 0x10ffff && !(point >= 0xd800 && point <= 0xdfff)
  return isCharacter ? String.fromCodePoint(point) : undefined
}
