// Whole numbers that are not written as such: `30.0`, `3e1`. JSON Schema takes them for integers,
// and many a tool does not: its language reads a float. Where the schema wants an integer they are
// written as one; nothing is lost, and nothing else in the text changes.

import { isWholeAt } from './schema-place.ts'

/**
 * The text with its whole numbers written as integers where `schema` wants them; undefined where
 * there is nothing to do. `text` must be JSON.
 */
export function withWholeNumbers(
  text: string,
  schema: Record<string, unknown>,
): string | undefined {
  if (!/\d(?:\.0+(?!\d)|(?:\.\d+)?[eE]\+?\d)/.test(text)) return undefined
  const pieces: string[] = []
  let done = 0
  let looked = 0
  for (const { from, to, path } of numbersIn(text)) {
    const sent = text.slice(from, to)
    const value = Number(sent)
    // A zero below zero is another value for those who read floats.
    if (
      /^-?\d+$/.test(sent) ||
      !Number.isSafeInteger(value) ||
      Object.is(value, -0) ||
      !isWhole(sent)
    )
      continue
    looked += 1
    if (looked > numbersMax) return undefined
    if (!isWholeAt(path, schema)) continue
    pieces.push(text.slice(done, from), String(value))
    done = to
  }
  return done === 0 ? undefined : [...pieces, text.slice(done)].join('')
}

/** As it is written: 1.00000000000000000001 is a whole number only to those who read doubles. */
function isWhole(sent: string): boolean {
  const [, whole = '', fraction = '', exponent = '0'] =
    /^-?(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/.exec(sent) ?? []
  const digits = whole + fraction
  let significant = digits.length
  while (digits[significant - 1] === '0') significant -= 1
  return whole.length - significant + Number(exponent) >= 0
}

/**
 * Looking a place up in a schema takes time; of arguments with more such numbers none is touched.
 */
const numbersMax = 1_000

/** Names of members and places in lists, from the top. */
export type Place = readonly (string | number)[]

type Open = { key: string } | { index: number }

/** Each number with where it stands, in the order of the text. */
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

/** Only names are followed by a colon. */
function isName(text: string, from: number): boolean {
  let at = from
  while (/\s/.test(text.charAt(at))) at += 1
  return text[at] === ':'
}
