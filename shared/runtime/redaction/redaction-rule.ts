// A rule as a redaction applies it.

import type { ValuePattern } from '../../contract/redaction/value-pattern.ts'

/** The place of a text. */
export const redactionPlaces = ['user', 'text', 'reasoning', 'arguments', 'results'] as const
export type RedactionPlace = (typeof redactionPlaces)[number]

/** Either a pattern or a pointer. */
export type RedactionRule = {
  name: string
  pattern: ValuePattern | undefined
  /** Steps of a JSON pointer into arguments, and into results that are JSON. */
  pointer: string[] | undefined
  /** Undefined: all places. */
  in: ReadonlySet<RedactionPlace> | undefined
  /** Names of tools, with * for any characters. Undefined: all tools. */
  tool: string | undefined
  /** `pseudonym`: equal values get one replacement. `length`: only it stays. `word`: `[name]`. */
  replace: 'pseudonym' | 'length' | 'word'
}

export type PatternRule = RedactionRule & { pattern: ValuePattern }

/** A rule without a place: its pattern is replaced in all texts. */
export function isEverywhere(rule: RedactionRule): rule is PatternRule {
  return rule.pattern !== undefined && rule.in === undefined && rule.tool === undefined
}
