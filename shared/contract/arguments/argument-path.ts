// Paths to arguments in the hints of a tool. `url` is a field at the top, `/meta/reason` a JSON
// pointer, and `*` in a pointer is any step.

import { isObject } from '../../lib/json/json-object.ts'

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

function isMet(step: string, name: string): boolean {
  return step === anyStep || step === name
}
