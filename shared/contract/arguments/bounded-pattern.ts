// The patterns of a schema, matched by RE2 within bounds.
// RE2 matches in time linear in the text. A pattern that RE2 does not support
// (lookaround, back-references) makes its schema unusable.
// RE2 writes counted repetitions out, so the size of all patterns of one schema is
// bounded before RE2 reads them. Equal patterns count once.

import { RE2JS } from 're2js'
import { limits } from '../limits.ts'

/** The parts of all patterns of a schema, with counted repetitions written out. */
const schemaPatternsSizeMax = 10_000

export class TextTooLong extends Error {}

export type BoundedPattern = { test(text: string): boolean }

/** `size`: of its patterns so far. `code`: for Ajv. */
export type BoundedPatterns = { (pattern: string): BoundedPattern; code: string; size(): number }

/** The patterns of one schema. `onTest` gets the size of a pattern times the length of each text. */
export function boundedPatterns(onTest: (work: number) => void = () => {}): BoundedPatterns {
  let total = 0
  const patterns = new Map<string, BoundedPattern>()

  /**
   * Throws the fault of the pattern. Its test throws on a text that is too
   * long: `false` would pass the text under a `not`.
   */
  function bounded(pattern: string): BoundedPattern {
    const compiled = patterns.get(pattern)
    if (compiled !== undefined) return compiled
    const size = sizeOf(pattern)
    total += size
    if (total > schemaPatternsSizeMax)
      throw new Error(
        `its patterns are too large: write fewer counted repetitions, such as ${shown(pattern)}`,
      )
    const expression = compiledPattern(pattern)
    const tested = {
      test(text: string) {
        if (text.length > limits.patternTextMax) throw new TextTooLong()
        onTest(size * text.length)
        return expression.matcher(text).find()
      },
      // Ajv keeps patterns apart by this.
      toString: () => pattern,
    }
    patterns.set(pattern, tested)
    return tested
  }

  return Object.assign(bounded, { code: 'boundedPattern', size: () => total })
}

const tokens =
  /\\[ux]\{[\da-fA-F]+\}|\\[pP]\{[^}]*\}|\\.|\[(?:\\.|[^\]\\])*\]|\{(\d+)(?:,(\d*))?\}|./gs

/** The parts of the pattern after its counted repetitions are written out. */
function sizeOf(pattern: string): number {
  const outer: number[] = []
  let [size, last] = [0, 0]
  for (const [token, least, most] of pattern.matchAll(tokens)) {
    if (token === '(') {
      outer.push(size)
      size = 0
    } else if (token === ')') {
      last = size + 1
      size = (outer.pop() ?? 0) + last
    } else if (least !== undefined) {
      const times = Math.max(Number(least), Number(most ?? 0), 1)
      size += last * (times - 1)
      last *= times
    } else {
      last = 1
      size += 1
    }
  }
  return size
}

/** Throws the fault, for people and the model. */
function compiledPattern(pattern: string): RE2JS {
  try {
    return RE2JS.compile(RE2JS.translateRegExp(pattern))
  } catch (cause) {
    regExpOf(pattern)
    throw new Error(
      `its pattern ${shown(pattern)} cannot be matched in linear time: write it without looking ahead or behind, and without references back`,
      { cause },
    )
  }
}

function shown(pattern: string): string {
  return JSON.stringify(pattern.slice(0, patternCharactersShown))
}

const patternCharactersShown = 100

/**
 * With the flag u, as the standard requires, or without it, as many authors write. Throws if it is
 * not a pattern.
 */
function regExpOf(pattern: string): RegExp {
  try {
    return new RegExp(pattern, 'u')
  } catch {
    return new RegExp(pattern)
  }
}
