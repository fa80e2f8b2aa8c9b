// Rewrites whole numbers such as `30.0` and `3e1` as integers where the schema wants an integer.
// JSON Schema accepts them, but many tools do not, because their language reads a float. Nothing is
// lost, and the rest of the text stays.

import { isWholeAt } from './schema-place.ts'

/** The text with such numbers rewritten. Undefined: there are none. `text` must be JSON. */
export function withWholeNumbers(
  text: string,
  schema: Record<string, unknown>,
): string | undefined {
  if (!/\d(?:\.0+(?!\d)|(?:\.\d+)?[eE]\+?\d)/.test(text)) return undefined
  const pieces: string[] = []
  let done = 0
  let lookups = 0
  for (const { from, to, path } of numbersIn(text)) {
    const sent = text.slice(from, to)
    const value = Number(sent)
    // Negative zero is another value for readers of floats.
    if (
      /^-?\d+$/.test(sent) ||
      !Number.isSafeInteger(value) ||
      Object.is(value, -0) ||
      !isWhole(sent)
    )
      continue
    lookups += 1
    if (lookups > numbersMax) return undefined
    if (!isWholeAt(path, schema)) continue
    pieces.push(text.slice(done, from), String(value))
    done = to
  }
  return done === 0 ? undefined : [...pieces, text.slice(done)].join('')
}

/** Judged by its digits: 1.00000000000000000001 is a whole number only to readers of doubles. */
function isWhole(sent: string): boolean {
  const [, whole = '', fraction = '', exponent = '0'] =
    /^-?(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/.exec(sent) ?? []
  const digits = whole + fraction
  let significant = digits.length
  while (digits[significant - 1] === '0') significant -= 1
  return whole.length - significant + Number(exponent) >= 0
}

/** Each number costs a lookup in the schema. Arguments with more of them stay unchanged. */
const numbersMax = 1_000

/** Names of members and indexes in lists, from the top. */
export type Place = readonly (string | number)[]

type Open = { key: string } | { index: number }

/** Each number with its place, in the order of the text. */
function* numbersIn(text: string): Generator<{ from: number; to: number; path: Place }> {
  const token = /"[^"\\]*(?:\\.[^"\\]*)*"|-?\d[\d.eE+-]*|[[\]{},]/g
  const open: Open[] = []
  for (const { 0: found, index } of text.matchAll(token)) {
    const inner = open.at(-1)
    if (found === '{') open.push({ key: '' })
    else if (found === '[') open.push({ index: 0 })
    else if (found === '}' || found === ']') open.pop()
    else if (found === ',' && inner !== undefined && 'index' in inner) inner.index += 1
    else if (found.startsWith('"')) {
      if (inner !== undefined && 'key' in inner && isName(text, index + found.length))
        inner.key = String(JSON.parse(found))
    } else if (found !== ',') {
      yield {
        from: index,
        to: index + found.length,
        path: open.map((step) => ('key' in step ? step.key : step.index)),
      }
    }
  }
}

/** Only a name is followed by a colon. */
function isName(text: string, from: number): boolean {
  let at = from
  while (/\s/.test(text.charAt(at))) at += 1
  return text[at] === ':'
}
