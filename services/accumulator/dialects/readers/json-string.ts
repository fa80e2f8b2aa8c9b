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

export type StringMending = 'single-quotes' | 'control-character' | 'escaped-quote'

/**
 * `end`: the offset after the closing quote. `spelling`: the string in JSON, undefined if it needs
 * no change. `isJsonOnly`: Python would read it differently (JSON-STRING-2).
 */
export type JsonString = {
  end: number
  spelling: string | undefined
  how: StringMending[]
  isJsonOnly: boolean
}

/**
 * The string whose opening quote, of either kind, is at `from`. Undefined if it has no end or more
 * than one reading. Reads each character once.
 */
export function jsonString(text: string, from: number): JsonString | undefined {
  const quote = text.charCodeAt(from)
  const how = new Set<StringMending>()
  const pieces: string[] = []
  let copied = from + 1
  let isJsonOnly = false
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
      const escaped = escapeHere(text, at)
      if (escaped === undefined) return undefined
      if (escaped === "\\'") {
        replace(2, "'")
        if (quote === doubleQuote) how.add('escaped-quote')
      }
      isJsonOnly ||= escaped === '\\/' || surrogate.test(escaped)
      at += escaped.length - 1
    }
    at += 1
  }
  if (at >= text.length || (isJsonOnly && quote === singleQuote)) return undefined
  if (quote === singleQuote) how.add('single-quotes')
  if (how.size === 0) return { end: at + 1, spelling: undefined, how: [], isJsonOnly }
  const spelling = `"${pieces.join('')}${text.slice(copied, at)}"`
  return { end: at + 1, spelling, how: [...how], isJsonOnly }
}

/** The escape at this backslash. Undefined: none of JSON, and not `\'` (JSON-STRING-1). */
function escapeHere(text: string, at: number): string | undefined {
  const next = text[at + 1] ?? ''
  if (next === 'u') {
    const escaped = text.slice(at, at + 6)
    return /^\\u[0-9a-f]{4}$/i.test(escaped) ? escaped : undefined
  }
  return next !== '' && `"'\\/bfnrt`.includes(next) ? `\\${next}` : undefined
}

const surrogate = /^\\ud[89a-f]/i
const space = 0x20
const doubleQuote = 0x22
const singleQuote = 0x27
const backslash = 0x5c
