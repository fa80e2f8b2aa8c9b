// Joins the deltas of a streamed message: texts are joined, items of lists by their index.
// The time is linear in the items, because a provider chooses their number.

import { isObject } from '../../lib/json/json-object.ts'
import type { Json } from '../format.ts'

/** Members whose value is whole in each piece. */
const whole = new Set(['id', 'type', 'index', 'role', 'name', 'format'])

/** Adds the members of the deltas of one message to it, in place. */
export function memberJoiner(): (to: Json, piece: Json) => void {
  /** The newest item of each index, by list. */
  const placesOf = new WeakMap<unknown[], Map<unknown, Json>>()

  function join(to: Json, piece: Json): void {
    for (const [name, value] of Object.entries(piece)) {
      const known = Object.hasOwn(to, name) ? to[name] : undefined
      if (value === null || value === undefined) to[name] = known ?? null
      else if (typeof value === 'string' && typeof known === 'string' && !whole.has(name))
        to[name] = known + value
      else if (Array.isArray(value)) to[name] = withItems(known, value)
      else if (isObject(value) && isObject(known)) join(known, value)
      else if (value !== '' || known === undefined || known === null)
        to[name] = isObject(value) ? structuredClone(value) : value
    }
  }

  function withItems(known: unknown, added: unknown[]): unknown[] {
    const items: unknown[] = Array.isArray(known) ? known : []
    const places = placesOf.get(items) ?? new Map(items.flatMap(placeOf))
    placesOf.set(items, places)
    for (const item of added) {
      const [place] = placeOf(item)
      const same = place && places.get(place[0])
      if (same !== undefined && place !== undefined) join(same, place[1])
      else {
        const own: unknown = structuredClone(item)
        items.push(own)
        for (const [index, entry] of placeOf(own)) places.set(index, entry)
      }
    }
    return items
  }

  return join
}

/** The item under its index. Empty: it has none. */
function placeOf(item: unknown): [unknown, Json][] {
  if (!isObject(item)) return []
  const { index } = item
  return index === undefined ? [] : [[index, item]]
}
