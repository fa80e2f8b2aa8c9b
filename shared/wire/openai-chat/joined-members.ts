// Joins the deltas of a streamed message: texts are joined, items of lists by their index.

import { isObject } from '../../lib/json/json-object.ts'
import type { Json } from '../format.ts'

/** Members whose value is whole in each piece. */
const whole = new Set(['id', 'type', 'index', 'role', 'name', 'format'])

/** Adds the members of a delta to the message, in place. */
export function joinMembers(to: Json, piece: Json): void {
  for (const [name, value] of Object.entries(piece)) {
    const known = Object.hasOwn(to, name) ? to[name] : undefined
    if (value === null || value === undefined) to[name] = known ?? null
    else if (typeof value === 'string' && typeof known === 'string' && !whole.has(name))
      to[name] = known + value
    else if (Array.isArray(value)) to[name] = withItems(known, value)
    else if (isObject(value) && isObject(known)) joinMembers(known, value)
    else if (value !== '' || known === undefined || known === null)
      to[name] = isObject(value) ? structuredClone(value) : value
  }
}

function withItems(known: unknown, added: unknown[]): unknown[] {
  const items: unknown[] = Array.isArray(known) ? known : []
  for (const item of added) {
    const same = items.findLast((one) => isSameItem(one, item))
    if (isObject(same) && isObject(item)) joinMembers(same, item)
    else items.push(structuredClone(item))
  }
  return items
}

function isSameItem(known: unknown, piece: unknown): boolean {
  return (
    isObject(known) && isObject(piece) && piece.index !== undefined && known.index === piece.index
  )
}
