// The named classes of values for redaction. No library: the libraries that find such values in a text
// use backtracking expressions, and a release that finds others would change the outputs of a replay.
// A class finds the same values in all versions of Weir. Better rules get a new name.

import { linearPattern, type ValuePattern } from './value-pattern.ts'

const word = String.raw`[\p{L}\p{N}-]+`

/** Keys of services and signed tokens: their usual beginnings, and the rest. */
const keys = [
  ['sk-', '(?:ant-|proj-|svcacct-|or-v1-)?[A-Za-z0-9_-]{20,}'],
  ['(?:sk|rk)_live_', '[A-Za-z0-9]{16,}'],
  ['gh[pousr]_', String.raw`[A-Za-z0-9]{30,}\b`],
  ['github_pat_', '[A-Za-z0-9_]{40,}'],
  ['glpat-', '[A-Za-z0-9_-]{20,}'],
  ['npm_', String.raw`[A-Za-z0-9]{36}\b`],
  ['hf_', String.raw`[A-Za-z0-9]{30,}\b`],
  ['xox[abeoprs]-', '[A-Za-z0-9-]{20,}'],
  ['(?:AKIA|ASIA)', String.raw`[A-Z0-9]{16}\b`],
  ['AIza', '[A-Za-z0-9_-]{35}'],
  ['eyJ', String.raw`[A-Za-z0-9_-]{10,}\.eyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,}`],
]

const privateKeyHead = '-----BEGIN (?:[A-Z]+ )*PRIVATE KEY(?: BLOCK)?-----'
// A cut text lacks the last line: then only characters of a key count.
const privateKeyBody = String.raw`(?:(?:[^-]|-{1,4}[^-])*-----END [A-Z ]+-----|[A-Za-z0-9+/=\s\\]*)`
/** A key of 16,384 bits, with escapes. */
const privateKeyCharactersMax = 16_000

/** In JSON, a letter of an escape can stand in front of a value. */
const start = String.raw`(?:\b|(?<=\\(?:[bfnrt]|u[0-9a-fA-F]{4})))`
/** Possibly a `key`, `card` or `iban`. Their patterns take longer than the rest of a scan. */
export const maybeSecret = new RegExp(
  [
    `${start}(?:${keys.map(([beginning]) => beginning).join('|')})`,
    privateKeyHead,
    String.raw`\d(?:[ -]?\d){12}`,
    String.raw`${start}[A-Za-z]{2}\d{2}[ -]?[A-Za-z0-9]{4}[ -]?[A-Za-z0-9]{4}`,
  ].join('|'),
)

const classes = {
  key: patternOf(
    [
      ...keys.map(([beginning, rest]) => String.raw`\b${beginning}${rest}`),
      privateKeyHead + privateKeyBody,
    ].join('|'),
    undefined,
    privateKeyCharactersMax,
  ),
  email: patternOf(String.raw`[\p{L}\p{N}._%+'-]+@${word}(?:\.${word})*\.\p{L}{2,}`),
  card: patternOf(String.raw`\b[2-6](?:[ -]?\d){12,18}\b`, longest(isCard)),
  iban: patternOf(String.raw`\b[A-Za-z]{2}\d{2}(?:[ -]?[A-Za-z0-9]){11,30}\b`, longest(isIban)),
  phone: patternOf(
    [
      String.raw`(?:\+|\b00) ?[1-9](?:[ ./()-]{0,2}\d){6,13}\b`,
      String.raw`(?:\(\d{3}\) ?|\b\d{3}[.-])\d{3}[.-]\d{4}\b`,
      String.raw`\b0\d{2,4}[ /-]\d{3,8}(?:[ -]\d{1,8}){0,3}\b`,
    ].join('|'),
  ),
} satisfies Record<string, ValuePattern>

export const valueClasses: ReadonlyMap<string, ValuePattern> = new Map(Object.entries(classes))

/** Compiled at the first search, because most programs redact no values. */
function patternOf(...pattern: Parameters<typeof linearPattern>): ValuePattern {
  let compiled: ValuePattern | undefined
  return {
    first(text, from) {
      compiled ??= linearPattern(...pattern)
      return compiled.first(text, from)
    },
  }
}

/** Numbers are written in groups, and a word after them can look like one more group. */
function longest(isValue: (characters: string) => boolean): (match: string) => number {
  return (match) => {
    for (let end = match.length; end > 0; end = match.slice(0, end).search(/[ -][^ -]*$/))
      if (isValue(match.slice(0, end).replaceAll(/[ -]/g, ''))) return end
    return 0
  }
}

/** By the check digit of Luhn. */
function isCard(digits: string): boolean {
  if (digits.length < 13) return false
  const sum = [...digits].reverse().reduce((total, digit, at) => {
    const value = Number(digit) * (at % 2 === 0 ? 1 : 2)
    return total + (value > 9 ? value - 9 : value)
  }, 0)
  return sum % 10 === 0
}

/** By the check digits of ISO 13616. */
function isIban(characters: string): boolean {
  if (characters.length < 15) return false
  const moved = characters.slice(4) + characters.slice(0, 4)
  let rest = 0
  for (const character of moved)
    for (const digit of String(Number.parseInt(character, 36)))
      rest = (rest * 10 + Number(digit)) % 97
  return rest === 1
}
