// Replaces values in one text: the known ones, and matches of the rules for all places.

import { type ValuePattern, valuesIn } from '../../contract/redaction/value-pattern.ts'
import { visibleText } from './folded-text.ts'
import { changedStrings } from './json-strings.ts'
import type { PatternRule } from './redaction-rule.ts'
import type { Replacements } from './replacements.ts'

export type RedactText = (text: string, isCut?: boolean) => string

/** The note after a text that Weir cut (services/executor/results.ts). */
const cutNote = /\n\[cut: this is the beginning of \d+ bytes\]$/

export function redactTextBy(
  replacements: Replacements,
  rules: readonly PatternRule[],
): RedactText {
  const { shape } = replacements

  function redactText(text: string, isCut = false): string {
    const [noted] = cutNote.exec(text) ?? []
    if (noted !== undefined) return redactText(text.slice(0, -noted.length), true) + noted
    return redactPlain(
      changedStrings(text, (leaf) =>
        leaf.length < text.length ? redactText(leaf) : redactPlain(leaf, false),
      ),
      isCut,
    )
  }

  function redactPlain(text: string, isCut: boolean): string {
    // Other spellings first: in them the pattern may match a piece of the value.
    const redacted = rules.reduce(
      (rest, rule) =>
        replacedValues(redactRespelled(rest, rule), [shape, rule.pattern], (value) =>
          replacements.has(value) ? value : replacedByPattern(value, rule),
        ),
      replacements.before(text, isCut),
    )
    return replacements.after(redacted, isCut)
  }

  /** Replaces matches that only another spelling hides (folded-text.ts). */
  function redactRespelled(text: string, rule: PatternRule): string {
    const visible = visibleText(text)
    if (visible === undefined) return text
    let changed = ''
    let from = 0
    for (const { text: value, index } of valuesIn(visible.text, shape, rule.pattern)) {
      if (replacements.has(value)) continue
      const start = visible.starts[index] as number
      const end = visible.ends[index + value.length - 1] as number
      if (start < from || text.slice(start, end) === value) continue
      changed += text.slice(from, start) + replacedByPattern(value, rule)
      from = end
    }
    return from === 0 ? text : changed + text.slice(from)
  }

  /** A text that only resembles a replacement counts as any other text. */
  function replacedByPattern(value: string, rule: PatternRule): string {
    if (shape.first(value, 0)?.index !== 0) return replacements.of(rule, value)
    return replacedValues(value, [rule.pattern], (found) => replacements.of(rule, found))
  }

  return redactText
}

function replacedValues(
  text: string,
  patterns: ValuePattern[],
  replacement: (value: string) => string,
): string {
  let changed = ''
  let from = 0
  for (const { index, text: value } of valuesIn(text, ...patterns)) {
    changed += text.slice(from, index) + replacement(value)
    from = index + value.length
  }
  return from === 0 ? text : changed + text.slice(from)
}

/** Within the strings of JSON as well as across them. */
export function matchesIn(text: string, pattern: ValuePattern): Set<string> {
  const found = new Set<string>()
  const look = (leaf: string): string => {
    for (const { text: match } of valuesIn(leaf, pattern)) found.add(match)
    return changedStrings(leaf, (inner) => (inner.length < leaf.length ? look(inner) : inner))
  }
  look(text)
  return found
}
