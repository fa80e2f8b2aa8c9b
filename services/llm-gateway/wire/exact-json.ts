// What stands in a JSON text as it was written. JSON.parse changes it: an id beyond 2^53 is another
// id afterwards, and of two members with the same name the first is gone, so that nobody after it
// could refuse the call that said two things.

import { isObject } from '../../../shared/lib/json/json-object.ts'
import {
  closingQuote,
  nextMark,
  spaceEnd,
  stringValue,
  unit,
} from '../../../shared/lib/json/tokens.ts'

const { openBrace, openBracket, quote } = unit

/**
 * Numbers as they were written (ECMAScript's JSON.parse source text access, which TypeScript's
 * library does not describe yet).
 */
type Raw = { rawJSON(text: string): unknown }

export type Path = (string | number)[]
/**
 * The text of the value at a path, character by character; undefined where there is none. Of
 * members with the same name the last is on the path.
 */
export type ExactValues = (path: Path) => string | undefined

type Span = { from: number; to: number }

/**
 * For as many values of one text as there are: each array and object on the way to one is looked
 * through once. `text` must be JSON.
 */
export function exactValues(text: string): ExactValues {
  const insides = new Map<number, Map<string | number, Span>>()
  return (path) => {
    let span: Span | undefined = { from: spaceEnd(text, 0), to: text.length }
    for (const step of path) {
      const inside: Map<string | number, Span> = insides.get(span.from) ?? insideOf(text, span.from)
      insides.set(span.from, inside)
      span = inside.get(step)
      if (span === undefined) return undefined
    }
    return text.slice(span.from, span.to)
  }
}

/** The members or items of the array or object that begins at `from`; a scalar has none. */
function insideOf(text: string, from: number): Map<string | number, Span> {
  const inside = new Map<string | number, Span>()
  const isObject = text[from] === '{'
  if (!isObject && text[from] !== '[') return inside
  let at = spaceEnd(text, from + 1)
  while (text[at] !== '}' && text[at] !== ']') {
    const nameEnd = isObject ? closingQuote(text, at + 1) : at
    const name: string | number = isObject ? stringValue(text, at + 1, nameEnd) : inside.size
    // Behind a name and its blanks there is a colon.
    const begin = isObject ? spaceEnd(text, spaceEnd(text, nameEnd + 1) + 1) : at
    const to = valueEnd(text, begin)
    inside.set(name, { from: begin, to })
    at = spaceEnd(text, to)
    if (text[at] === ',') at = spaceEnd(text, at + 1)
  }
  return inside
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

/**
 * The value of a JSON text as it can be sent on with JSON.stringify: a number that a double would
 * change keeps its digits, one beyond every double is null, and half a character is replaced, in
 * names too. `text` must be JSON that is not nested too deeply.
 */
export function sendableJson(text: string): unknown {
  return JSON.parse(text, (_key: string, value: unknown, context?: { source: string }): unknown => {
    if (typeof value === 'string') return value.toWellFormed()
    if (typeof value === 'number')
      return Number.isFinite(value) && context !== undefined
        ? rawNumber(value, context.source)
        : null
    return isObject(value) && !Object.keys(value).every((name) => name.isWellFormed())
      ? withWellFormedNames(value)
      : value
  })
}

/**
 * The value of a JSON text, of which JSON.stringify writes each number as it was written; undefined
 * where it is no JSON.
 */
export function withExactNumbers(text: string): unknown {
  try {
    return JSON.parse(
      text,
      (_key: string, value: unknown, context?: { source: string }): unknown =>
        typeof value === 'number' && context !== undefined
          ? rawNumber(value, context.source)
          : value,
    )
  } catch {
    return undefined
  }
}

function rawNumber(value: number, source: string): unknown {
  return String(value) === source ? value : (JSON as unknown as Raw).rawJSON(source)
}

function withWellFormedNames(value: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => [name.toWellFormed(), member]),
  )
}

/** The value, or undefined where the text is no JSON. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
