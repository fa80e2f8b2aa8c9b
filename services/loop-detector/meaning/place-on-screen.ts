// Clicks on one place of the screen. A model points some pixels next to its last click, and means the
// same place.
// Only a pointer has places: the tool, or an argument, names one. A cell of a board, a table or a
// picture is another cell at each step, so small coordinates are no place either.

import { canonical } from '../../../shared/contract/identity/arguments.ts'
import { isObject } from '../../../shared/lib/json/json-object.ts'
import type { CallEvidence } from '../evidence/call-evidence.ts'

/** The first call on a place. `rest`: its tool and other arguments. */
export type Place = { rest: string; x: number; y: number; key: string; result: string }

/** The call under the key of the first call on its place, which joins the memory. Bounded. */
export function onKnownPlace(places: Place[], call: CallEvidence): CallEvidence {
  const point = isPointed(call) ? pointIn(call.value) : undefined
  if (point === undefined) return call
  const { x, y, rest: others } = point
  const rest = `${call.tool} ${others}`
  const { key, result, text } = call
  const known = places.find((place) => {
    const isSeen = text.length >= viewCharsMin && place.result === result
    const apart = Math.max(Math.abs(place.x - x), Math.abs(place.y - y))
    return place.rest === rest && apart <= (isSeen ? vainJitterMax : jitterMax)
  })
  if (known === undefined) {
    places.push({ rest, x, y, key, result })
    if (places.length > placesMax) places.shift()
    return call
  }
  return { ...call, key: known.key, outcome: known.key + result }
}

/** Most calls name no place. */
export function isPointed({ tool, raw }: Pick<CallEvidence, 'tool' | 'raw'>): boolean {
  return raw.length <= charsMax && pointed.test(raw) && (pointers.test(tool) || pointers.test(raw))
}

const pointed = /"(?:x|coordinates?|position|point)"/
const pointers = /click|mouse|hover|touch|(?:^|[^a-z])tap/i
const charsMax = 512
const placesMax = 32
/** Pixels. Neighbours in a grid are further away. */
const jitterMax = 8
/** Where the whole view stayed the same. Targets for people are 24 pixels apart. */
const vainJitterMax = 20
/** Shorter texts acknowledge. */
const viewCharsMin = 64
/** Boards are smaller, and screens larger. */
const screenMin = 100

function pointIn(value: unknown): { x: number; y: number; rest: string } | undefined {
  if (!isObject(value)) return undefined
  const { x, y, coordinate, coordinates, position, point, ...rest } = value
  const at = coordinate ?? coordinates ?? position ?? point ?? { x, y }
  const [left, top]: unknown[] = Array.isArray(at) || !isObject(at) ? [at].flat() : [at.x, at.y]
  if (!Number.isInteger(left) || !Number.isInteger(top)) return undefined
  const [x1, y1] = [Number(left), Number(top)]
  if (Math.max(x1, y1) < screenMin) return undefined
  return { x: x1, y: y1, rest: canonical(rest) ?? '' }
}
