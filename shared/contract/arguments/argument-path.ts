// Paths to arguments: `url` is a field at the top, `/meta/reason` a JSON pointer (RFC 6901). In the
// hints of a tool, `*` in a pointer is any step.

import { isObject } from '../../lib/json/json-object.ts'
import type { JsonObject, JsonValue } from '../guard/guard.ts'

export const anyStep = '*'

/** The steps of a path. A plain name is one step. */
export function stepsOf(path: string): string[] {
  if (!path.startsWith('/')) return [path]
  return path
    .slice(1)
    .split('/')
    .map((step) => step.replaceAll('~1', '/').replaceAll('~0', '~'))
}

/**
 * A copy without the values at the path. An item of a list becomes null, because the others keep
 * their positions.
 */
export function withoutPath(value: unknown, steps: readonly string[]): unknown {
  const [step, ...rest] = steps
  if (step === undefined) return null
  if (Array.isArray(value))
    return value.map((item, index) => (isMet(step, String(index)) ? withoutPath(item, rest) : item))
  if (!isObject(value)) return value
  const members = Object.entries(value).flatMap(([name, member]): [string, unknown][] => {
    if (!isMet(step, name)) return [[name, member]]
    return rest.length === 0 ? [] : [[name, withoutPath(member, rest)]]
  })
  return Object.fromEntries(members)
}

/** The values at the path, in the order of the document. */
export function foundAt(value: unknown, steps: readonly string[]): unknown[] {
  const [step, ...rest] = steps
  if (step === undefined) return [value]
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([name, member]) =>
    isMet(step, name) ? foundAt(member, rest) : [],
  )
}

/** The value at a path without `*`. Undefined: no value there. Inherited members do not count. */
export function valueAt(args: JsonObject, path: string): JsonValue | undefined {
  let value: JsonValue | undefined = args
  for (const step of stepsOf(path)) {
    if (Array.isArray(value))
      value = /^(0|[1-9]\d{0,8})$/.test(step) ? value[Number(step)] : undefined
    else if (typeof value === 'object' && value !== null && Object.hasOwn(value, step))
      value = (value as JsonObject)[step]
    else return undefined
  }
  return value
}

function isMet(step: string, name: string): boolean {
  return step === anyStep || step === name
}
