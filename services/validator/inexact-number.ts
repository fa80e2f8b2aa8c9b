// Finds numbers that readers read differently, where the difference counts. A tool with decimals or
// 64-bit integers gets another value than the one that was judged.
//
// It counts where the tool's schema compares the number, where an approval rule
// names its place, and everywhere while a guard enforces for the tool.
// A guard is a program that may look at any field. Elsewhere a number may be an id
// of any length.

import {
  boundsNumberAt,
  namesPlace,
  namesStringAt,
  type Schema,
} from '../../shared/contract/arguments/schema-place.ts'
import { fieldAt, inexactNumbersIn, isWholeDecimal } from '../../shared/lib/json/exact-number.ts'
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
  let searches = 0
  for (const { sent, path } of inexactNumbersIn(text)) {
    searches += 1
    const place = path()
    const counts =
      isGuarded ||
      searches > searchesMax ||
      boundsNumberAt(place, schema, { isWhole: isWholeDecimal(sent) }) ||
      ruled.some((rule) => namesPlace(place, rule))
    if (!counts) continue
    return { field: fieldAt(place), sent, mayBeString: namesStringAt(place, schema) }
  }
  return undefined
}
