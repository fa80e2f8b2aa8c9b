// Rewrites whole numbers such as `30.0` and `3e1` as integers where the schema wants an integer.
// JSON Schema accepts them, but many tools do not, because their language reads a float. Nothing is
// lost, and the rest of the text stays.

import { isWholeAt } from '../../shared/contract/arguments/schema-place.ts'
import { isWholeDecimal } from '../../shared/lib/json/exact-number.ts'
import { scalarsIn } from '../../shared/lib/json/places.ts'

/** The text with such numbers rewritten. Undefined: there are none. `text` must be JSON. */
export function withWholeNumbers(
  text: string,
  schema: Record<string, unknown>,
): string | undefined {
  if (!/\d(?:\.0+(?!\d)|(?:\.\d+)?[eE]\+?\d)/.test(text)) return undefined
  const pieces: string[] = []
  let done = 0
  let lookups = 0
  for (const { kind, from, to, path } of scalarsIn(text)) {
    if (kind !== 'number') continue
    const sent = text.slice(from, to)
    const value = Number(sent)
    // Negative zero is another value for readers of floats.
    if (
      /^-?\d+$/.test(sent) ||
      !Number.isSafeInteger(value) ||
      Object.is(value, -0) ||
      !isWholeDecimal(sent)
    )
      continue
    lookups += 1
    if (lookups > numbersMax) return undefined
    if (!isWholeAt(path(), schema)) continue
    pieces.push(text.slice(done, from), String(value))
    done = to
  }
  return done === 0 ? undefined : [...pieces, text.slice(done)].join('')
}

/** Each number costs a lookup in the schema. Arguments with more of them stay unchanged. */
const numbersMax = 1_000
