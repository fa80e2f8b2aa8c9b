// The places of members and items in a JSON text, to read or replace one value and leave the bytes of
// all others. Callers check first that the text is JSON.

import { closingQuote, nextMark, spaceEnd, stringValue, unit } from './tokens.ts'

const { openBrace, openBracket, quote } = unit

/** Positions in UTF-16 units. `to` is after the value. */
export type Span = { from: number; to: number }

/**
 * The values of the array or object that begins at `from`, by name or index, in order. A scalar has
 * none. Of members with one name, the last counts, as in JSON.parse.
 */
export function insideOf(text: string, from: number): ReadonlyMap<string | number, Span> {
  return new Map(entriesOf(text, from))
}

/** Like insideOf, with every member of a name. */
export function entriesOf(text: string, from: number): [string | number, Span][] {
  const entries: [string | number, Span][] = []
  const isObject = text[from] === '{'
  if (!isObject && text[from] !== '[') return entries
  let at = spaceEnd(text, from + 1)
  while (text[at] !== '}' && text[at] !== ']') {
    const nameEnd = isObject ? closingQuote(text, at + 1) : at
    const name: string | number = isObject ? stringValue(text, at + 1, nameEnd) : entries.length
    // A colon follows the name and its blanks.
    const begin = isObject ? spaceEnd(text, spaceEnd(text, nameEnd + 1) + 1) : at
    const to = valueEnd(text, begin)
    entries.push([name, { from: begin, to }])
    at = spaceEnd(text, to)
    if (text[at] === ',') at = spaceEnd(text, at + 1)
  }
  return entries
}

function valueEnd(text: string, from: number): number {
  switch (text.charCodeAt(from)) {
    case quote:
      return closingQuote(text, from + 1) + 1
    case openBrace:
    case openBracket:
      return containerEnd(text, from)
    default: {
      let at = from
      while (at < text.length && !',}] \n\r\t'.includes(text.charAt(at))) at += 1
      return at
    }
  }
}

function containerEnd(text: string, from: number): number {
  let depth = 0
  let at = from
  do {
    const found = text.charCodeAt(at)
    if (found === quote) at = closingQuote(text, at + 1)
    else depth += found === openBrace || found === openBracket ? 1 : -1
    at += 1
    if (depth > 0) at = nextMark(text, at)
  } while (depth > 0 && at < text.length)
  return at
}
