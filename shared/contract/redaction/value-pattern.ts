// Patterns of values in a text, for redaction.
// A linear pattern is one of RE2, and is searched in windows. So the time of any
// pattern is at most the length of the text times the window.

import { RE2JS } from 're2js'

/** `index`: its place in the text. */
export type Value = { index: number; text: string }

export type ValuePattern = {
  /** The first value at or after `from`. It can be empty. */
  first(text: string, from: number): Value | undefined
}

/** A longer value may not be found. */
export const valueCharactersMax = 1_000

/**
 * `accepted`: the number of characters of a match that are a value; 0: none. Throws if `source` is no
 * pattern of RE2.
 */
export function linearPattern(
  source: string,
  accepted: (match: string) => number = ({ length }) => length,
  charactersMax = valueCharactersMax,
): ValuePattern {
  const expression = RE2JS.compile(RE2JS.translateRegExp(source))
  const windowCharacters = 2 * charactersMax

  /** The first match that begins in `charactersMax` from `from` on. */
  function inWindow(text: string, from: number): Value | undefined {
    const before = Math.max(0, from - 1) // for the boundary of a word
    const matcher = expression.matcher(text.slice(before, from + windowCharacters))
    if (!matcher.find(from - before)) return undefined
    const index = before + matcher.start()
    return { index, text: text.slice(index, before + matcher.end()) }
  }

  return {
    first(text, from) {
      for (let at = from; at <= text.length; ) {
        const match = inWindow(text, at)
        const end = at + charactersMax
        if (match === undefined || match.index >= end) {
          at = end
          continue
        }
        const length = accepted(match.text)
        if (length > 0 || match.text === '')
          return { index: match.index, text: match.text.slice(0, length) }
        at = match.index + 1
      }
      return undefined
    },
  }
}

/** Of an expression with the flag g. */
export function regExpPattern(expression: RegExp): ValuePattern {
  return {
    first(text, from) {
      expression.lastIndex = from
      const match = expression.exec(text)
      return match === null ? undefined : { index: match.index, text: match[0] }
    },
  }
}

/** Hides a text as a whole. */
export const everything: ValuePattern = {
  first: (text, from) => (from < text.length ? { index: from, text: text.slice(from) } : undefined),
}

/** The values of a text, without empty ones, one after the other. At one place, the first pattern counts. */
export function* valuesIn(text: string, ...patterns: ValuePattern[]): Generator<Value> {
  const next = patterns.map((pattern) => pattern.first(text, 0))
  for (;;) {
    let found: Value | undefined
    for (const value of next)
      if (value !== undefined && (found === undefined || value.index < found.index)) found = value
    if (found === undefined) return
    if (found.text !== '') yield found
    const end = found.index + Math.max(1, found.text.length)
    for (const [at, pattern] of patterns.entries()) {
      const value = next[at]
      if (value !== undefined && value.index < end) next[at] = pattern.first(text, end)
    }
  }
}
