// Decodes arguments that a model encoded once too often: a JSON string where the tool's schema wants
// an array or an object.
//
// A string is decoded only where the schema refuses every string, so nothing that
// may be meant as a text changes.
// All or nothing, once and strictly. The result must pass the schema, and
// nothing inside it is decoded again.

import { jsonFault } from '../../lib/json/json-fault.ts'
import { scalarsIn } from '../../lib/json/places.ts'
import { limits } from '../limits.ts'
import type { UsableSchema } from './compiled-schema.ts'
import { decodedOnce } from './no-arguments.ts'
import { refusesStringAt } from './schema-place.ts'

/** Each string costs a search in the schema. Arguments with more of them stay as they are. */
const stringsMax = 1_000

/**
 * The argument text with such strings decoded, if it then passes the schema. Undefined: it does
 * not, or there are none. `text` must be a JSON object.
 */
export function withDecodedValues(
  text: string,
  { schema, judge }: UsableSchema,
): string | undefined {
  const pieces: string[] = []
  let done = 0
  let strings = 0
  for (const { kind, from, to, path } of scalarsIn(text)) {
    if (kind !== 'string') continue
    const inner = mayBeEncoded(text, from)
      ? decodedOnce(text.slice(from, to), limits.argumentDepthMax)
      : undefined
    if (inner === undefined) continue
    strings += 1
    if (strings > stringsMax) return undefined
    if (!refusesStringAt(path(), schema)) continue
    pieces.push(text.slice(done, from), inner)
    done = to
  }
  if (done === 0) return undefined
  const decoded = [...pieces, text.slice(done)].join('')
  const isWhole = jsonFault(decoded, limits.argumentDepthMax) === undefined
  return isWhole && judge(JSON.parse(decoded)).kind === 'valid' ? decoded : undefined
}

/** Whether the string whose opening quote is at `from` may begin with a bracket. */
function mayBeEncoded(text: string, from: number): boolean {
  bracketInside.lastIndex = from
  return bracketInside.test(text)
}

const bracketInside = /"(?:\\[nrt]| ){0,64}(?:[[{]|\\u[0-9a-f])/iy
