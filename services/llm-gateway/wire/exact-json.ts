// What stands in a JSON text as it was written. JSON.parse changes it: an id beyond 2^53 is another
// id afterwards, and of two members with the same name the first is gone, so that nobody after it
// could refuse the call that said two things.

import { isObject } from '../../../shared/lib/json/json-object.ts'

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
    let span: Span | undefined = { from: afterBlanks(text, 0), to: text.length }
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
  let at = afterBlanks(text, from + 1)
  while (text[at] !== '}' && text[at] !== ']') {
    const nameEnd = isObject ? stringEnd(text, at) : at
    const name: string | number = isObject
      ? String(JSON.parse(text.slice(at, nameEnd)))
      : inside.size
    // Behind a name and its blanks there is a colon.
    const begin = isObject ? afterBlanks(text, afterBlanks(text, nameEnd) + 1) : at
    const to = valueEnd(text, begin)
    inside.set(name, { from: begin, to })
    at = afterBlanks(text, to)
    if (text[at] === ',') at = afterBlanks(text, at + 1)
  }
  return inside
}

function valueEnd(text: string, from: number): number {
  let depth = 0
  for (let at = from; ; at += 1) {
    const found = text[at]
    if (found === '"') {
      at = stringEnd(text, at) - 1
      if (depth === 0) return at + 1
    } else if (found === '{' || found === '[') depth += 1
    else if (depth === 0) {
      if (found === undefined || ',}] \n\r\t'.includes(found)) return at
    } else if (found === '}' || found === ']') {
      depth -= 1
      if (depth === 0) return at + 1
    }
  }
}

/** After the closing quote of the string that opens at `from`. */
function stringEnd(text: string, from: number): number {
  let at = from + 1
  while (text[at] !== '"') at += text[at] === '\\' ? 2 : 1
  return at + 1
}

function afterBlanks(text: string, from: number): number {
  let at = from
  while (text[at] === ' ' || text[at] === '\n' || text[at] === '\r' || text[at] === '\t') at += 1
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
