// Finds numbers that readers read differently, where the difference counts. A tool with decimals or
// 64-bit integers gets another value than the one that was judged.
//
// INEXACT-NUMBER-1. It counts where the tool's schema compares the number, where an approval rule
//     names its place, and everywhere while a guard enforces for the tool.
// INEXACT-NUMBER-2. A guard is a program that may look at any field. Elsewhere a number may be an id
//     of any length.

import {
  boundsNumberAt,
  namesPlace,
  namesStringAt,
  type Schema,
} from '../../shared/contract/arguments/schema-place.ts'
import { isExact, isWholeDecimal } from '../../shared/lib/json/exact-number.ts'
import { scalarsIn } from '../../shared/lib/json/places.ts'
import type { Watch } from './watch.ts'

/** Each such number costs a search in the schema. One more counts in any place. */
const searchesMax = 256

/** `field`: the nearest name; empty: none. `mayBeString`: the schema also wants strings there. */
export type InexactNumber = { field: string; sent: string; mayBeString: boolean }

/** The first such number, as sent. `text` must be JSON. */
export function inexactNumber(
  text: string,
  schema: Schema,
  { isGuarded, ruled }: Watch,
): InexactNumber | undefined {
  if (!mayBeInexact.test(text)) return undefined
  let searches = 0
  for (const { kind, from, to, path } of scalarsIn(text)) {
    if (kind !== 'number') continue
    const sent = text.slice(from, to)
    if (isExact(sent)) continue
    searches += 1
    const place = path()
    const counts =
      isGuarded ||
      searches > searchesMax ||
      boundsNumberAt(place, schema, { isWhole: isWholeDecimal(sent) }) ||
      ruled.some((rule) => namesPlace(place, rule))
    if (!counts) continue
    const field = String(place.findLast((step) => typeof step === 'string') ?? '')
    return { field, sent, mayBeString: namesStringAt(place, schema) }
  }
  return undefined
}

/** More than fifteen digits, or an exponent of two. Any other number is exact. */
const mayBeInexact = /\d[\d.]{15}|\d[eE][+-]?\d\d/
