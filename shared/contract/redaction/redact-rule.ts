// One rule of an agent's `redact`: a class of values, a pattern, or a path into arguments or results.

import type { RedactRule } from '../messages.ts'
import { valueClasses } from './value-classes.ts'
import { everything, linearPattern, type ValuePattern } from './value-pattern.ts'

/** Steps into arguments, or into results that are JSON. `*`: each item of a list. */
export type RedactPath = { of: 'arguments' | 'results'; steps: string[] }

/** Undefined: no path. */
export function redactPathIn(text: string): RedactPath | undefined {
  const [of, ...steps] = text.split('.')
  if ((of !== 'arguments' && of !== 'results') || steps.length === 0) return undefined
  return steps.includes('') ? undefined : { of, steps }
}

/**
 * The pattern of a rule with a class or a pattern. Another version of Weir may have written a rule that
 * this one cannot use: it hides every text.
 */
export function patternOfRule({ name, pattern }: RedactRule): ValuePattern {
  if (pattern === null) return valueClasses.get(name) ?? everything
  try {
    return linearPattern(pattern)
  } catch {
    return everything
  }
}

const letter = 'a'
const digit = '0'
const blank = ' '

/** The reason why a pattern cannot be used. Undefined: it can. */
export function patternFault(pattern: string): string | undefined {
  let found: ValuePattern
  try {
    found = linearPattern(pattern)
  } catch (error) {
    return isExpression(pattern)
      ? 'cannot be matched in linear time; write it without looking ahead or behind, and without references back'
      : `is no regular expression: ${(error as Error).message}`
  }
  const finds = (text: string) => found.first(text, 0) !== undefined
  if (finds(''))
    return 'matches an empty text, so it would match everywhere; let it need a character'
  if ([letter, digit, blank].filter(finds).length > 1)
    return 'matches nearly every text; name the form of the values'
  return undefined
}

function isExpression(pattern: string): boolean {
  try {
    new RegExp(pattern, 'u')
    return true
  } catch {
    return false
  }
}
