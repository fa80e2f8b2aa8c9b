// Reads a string as models write it in almost-JSON, in one reading or none. Used for arguments
// (json-repair.ts) and for calls in text.
//
//     single-quotes      'b'                           with double quotes
//     control-character  a line end inside a string    as its escape
//     escaped-quote      "it\'s"                       without the backslash
//
// JSON-STRING-1. No other escape is repaired. Readers differ in each of them: `\d` is `d` for
//     JavaScript and `\d` for Python, and `\x41`, `\0`, `\a` and `\u{…}` have even more readings.
// JSON-STRING-2. Python reads `\/` and an escaped surrogate pair differently from JSON. A string in
//     single quotes with one of them has two readings. A text with Python's words has them too.

import { type Cursor, skipMatch } from './cursor.ts'

export type StringMending = 'single-quotes' | 'control-character' | 'escaped-quote'

/**
 * `spelling`: the string in JSON, undefined if it needs no change. `isJsonOnly`: Python would read it
 * differently (JSON-STRING-2).
 */
type JsonString = { spelling: string | undefined; how: StringMending[]; isJsonOnly: boolean }

/** Characters and escapes that are the same in both quotes, in a run that no stack is too small for. */
const plainHere =
  /(?:[ !#-&(-[\]-\uffff]|\\(?:["\\bfnrt]|u(?![dD][89a-fA-F])[0-9a-fA-F]{4})){1,4096}/y
/** The escapes that Python reads differently. */
const jsonOnlyHere = /\\(?:\/|u[0-9a-fA-F]{4})/y

/**
 * Moves over the string whose opening quote, of either kind, is here. Undefined if the string has no
 * end or more than one reading.
 */
export function jsonString(cursor: Cursor): JsonString | undefined {
  const { text, at: from } = cursor
  const quote = text[from]
  const how = new Set<StringMending>()
  const pieces: string[] = []
  let isJsonOnly = false
  let copied = from + 1
  cursor.at += 1
  const replace = (length: number, spelling: string, mending?: StringMending): void => {
    pieces.push(text.slice(copied, cursor.at), spelling)
    cursor.at += length
    copied = cursor.at
    if (mending !== undefined) how.add(mending)
  }
  for (let found = text[cursor.at]; found !== quote; found = text[cursor.at]) {
    if (found === undefined) return undefined
    if (skipMatch(cursor, plainHere) !== undefined) continue
    if (found < ' ') replace(1, JSON.stringify(found).slice(1, -1), 'control-character')
    else if (found === '"') replace(1, '\\"')
    else if (found === "'") cursor.at += 1
    else if (text.startsWith("\\'", cursor.at))
      replace(2, "'", quote === '"' ? 'escaped-quote' : undefined)
    else if (skipMatch(cursor, jsonOnlyHere) === undefined) return undefined
    else isJsonOnly = true
  }
  if (isJsonOnly && quote === "'") return undefined
  if (quote === "'") how.add('single-quotes')
  const rest = text.slice(copied, cursor.at)
  cursor.at += 1
  const spelling = how.size === 0 ? undefined : `"${pieces.join('')}${rest}"`
  return { spelling, how: [...how], isJsonOnly }
}
