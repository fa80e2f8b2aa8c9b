// Clicks on one place of the screen. A model points some pixels beside its last click, and means the
// same place.

import { isObject } from '../../../shared/lib/json/json-object.ts'
import type { CallEvidence } from '../evidence/evidence.ts'

/** The first call on a place. `rest`: its tool and other arguments. */
export type Place = { rest: string; x: number; y: number; key: string }

/** The call under the key of the first call on its place, which joins the memory. Bounded. */
export function onKnownPlace(places: Place[], call: CallEvidence): CallEvidence {
  const point = isPointed(call) ? pointIn(call.value) : undefined
  if (point === undefined) return call
  const { x, y, rest: others } = point
  const rest = `${call.tool} ${others}`
  const known = places.find(
    (place) =>
      place.rest === rest &&
      Math.abs(place.x - x) <= jitterMax &&
      Math.abs(place.y - y) <= jitterMax,
  )
  if (known === undefined) {
    places.push({ rest, x, y, key: call.key })
    if (places.length > placesMax) places.shift()
    return call
  }
  return { ...call, key: known.key, outcome: known.key + call.result }
}

/** Most calls name no place. */
export function isPointed({ raw }: Pick<CallEvidence, 'raw'>): boolean {
  return raw.length <= charsMax && pointed.test(raw)
}

const pointed = /"(?:x|coordinates?|position|point)"/
const charsMax = 512
const placesMax = 32
/** Pixels. Neighbours in a grid are further away. */
const jitterMax = 8

function pointIn(value: unknown): { x: number; y: number; rest: string } | undefined {
  if (!isObject(value)) return undefined
  const { x, y, coordinate, coordinates, position, point, ...rest } = value
  const at = coordinate ?? coordinates ?? position ?? point ?? { x, y }
  const [left, top]: unknown[] = Array.isArray(at) || !isObject(at) ? [at].flat() : [at.x, at.y]
  if (!Number.isInteger(left) || !Number.isInteger(top)) return undefined
  return { x: Number(left), y: Number(top), rest: Object.values(rest).join() }
}
