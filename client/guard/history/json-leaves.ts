// A copy of plain JSON as a flat list: a container as a size, a member as a name and a value. Texts
// are shared, so a copy costs little memory, and a change in place is noticed.
// Equal leaves mean equal values with their members in one order.

import { limits } from '../../../shared/contract/limits.ts'

export type Leaf = string | number | boolean | null | undefined

/** Marks of containers, which equal no value. */
const list = Symbol('list')
const object = Symbol('object')

export type Leaves = (Leaf | typeof list | typeof object)[]

/**
 * Adds the leaves of a value. Returns the sum of its texts' lengths and its leaves. Undefined: it is
 * no plain JSON, such as an object of a class, or it nests too deeply. Some leaves were added then.
 */
export function addLeaves(to: Leaves, value: unknown, depth = 0): number | undefined {
  if (typeof value === 'string') {
    to.push(value)
    return value.length + 1
  }
  if (typeof value !== 'object' || value === null) {
    if (typeof value === 'function' || typeof value === 'symbol' || typeof value === 'bigint')
      return undefined
    to.push(value as Leaf)
    return 1
  }
  if (depth === limits.jsonDepthMax) return undefined
  let size = 2
  if (Array.isArray(value)) {
    to.push(list, value.length)
    for (const item of value) {
      const own = addLeaves(to, item, depth + 1)
      if (own === undefined) return undefined
      size += own
    }
    return size
  }
  if (!isPlain(value)) return undefined
  to.push(object)
  const at = to.push(0) - 1
  let members = 0
  for (const name in value) {
    members += 1
    to.push(name)
    const own = addLeaves(to, (value as Record<string, unknown>)[name], depth + 1)
    if (own === undefined) return undefined
    size += own + 1
  }
  to[at] = members
  return size
}

/** The place after the leaves of the value. -1: the leaves from `at` on are those of another value. */
export function afterLeaves(leaves: Leaves, at: number, value: unknown): number {
  if (typeof value !== 'object' || value === null) return leaves[at] === value ? at + 1 : -1
  if (Array.isArray(value)) {
    if (leaves[at] !== list || leaves[at + 1] !== value.length) return -1
    let next = at + 2
    for (let n = 0; n < value.length && next !== -1; n += 1)
      next = afterLeaves(leaves, next, value[n])
    return next
  }
  if (leaves[at] !== object || !isPlain(value)) return -1
  let next = at + 2
  let members = 0
  for (const name in value) {
    if (leaves[next] !== name) return -1
    members += 1
    next = afterLeaves(leaves, next + 1, (value as Record<string, unknown>)[name])
    if (next === -1) return -1
  }
  return leaves[at + 1] === members ? next : -1
}

/** Members of other objects can be hidden, and change unseen. */
function isPlain(value: object): boolean {
  const prototype = Object.getPrototypeOf(value)
  return prototype === Object.prototype || prototype === null
}
