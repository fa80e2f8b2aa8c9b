// Values of a JSON text exactly as written. JSON.parse changes ids beyond 2^53. It also drops the
// first of two members with one name, and then no later check could refuse such a call.

import { limits } from '../contract/limits.ts'
import { boundedJson } from '../lib/json/bounded-json.ts'
import { isObject } from '../lib/json/json-object.ts'
import { rawNumber } from '../lib/json/raw-numbers.ts'
import { insideOf, type Span } from '../lib/json/spans.ts'
import { spaceEnd } from '../lib/json/tokens.ts'

export type Path = (string | number)[]
/**
 * Returns the text of the value at a path; undefined: no such value. Of members with one name, the
 * path leads to the last.
 */
export type ExactValues = (path: Path) => string | undefined

/**
 * Looks up any number of values in one text and scans each array and object only once. `text` must
 * be JSON.
 */
export function exactValues(text: string): ExactValues {
  let insides: Map<number, ReadonlyMap<string | number, Span>> | undefined
  return (path) => {
    insides ??= new Map() // most events need none
    let span: Span | undefined = { from: spaceEnd(text, 0), to: text.length }
    for (const step of path) {
      const inside: ReadonlyMap<string | number, Span> =
        insides.get(span.from) ?? insideOf(text, span.from)
      insides.set(span.from, inside)
      span = inside.get(step)
      if (span === undefined) return undefined
    }
    return text.slice(span.from, span.to)
  }
}

/**
 * The value of a JSON text in a form that JSON.stringify can send on. Keeps the digits of a number
 * that a double would change. Replaces a number beyond every double by null, and half a character
 * by U+FFFD, also in names. `text` must be JSON without deep nesting.
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

function withWellFormedNames(value: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => [name.toWellFormed(), member]),
  )
}

/** The value; undefined: not JSON, or nested too deeply. */
export function parseJson(text: string): unknown {
  return boundedJson(text, limits.jsonDepthMax)
}
