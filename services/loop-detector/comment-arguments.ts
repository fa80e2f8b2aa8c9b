// Arguments that only comment a call ("reason", "explanation"): a tool declares them in its schema, on the property, by `"x-weir-comment": true`.
// Models word them anew each time, so a loop would never look like one. Nothing is guessed from names: a `reason` may as well be the point of a call.

import type { Declaration } from '../../shared/messages.ts'

const mark = 'x-weir-comment'
const none: ReadonlySet<string> = new Set()

/** Names of the top-level arguments that only comment. A schema that cannot be read declares none; refusing it is the validator's job. */
export function commentsOf(declaration: Declaration | undefined): ReadonlySet<string> {
  if (declaration === undefined || !declaration.schema.includes(mark)) return none
  try {
    const properties: unknown = member(JSON.parse(declaration.schema), 'properties')
    if (typeof properties !== 'object' || properties === null) return none
    return new Set(Object.entries(properties).flatMap(([name, property]) => (member(property, mark) === true ? [name] : [])))
  } catch {
    return none
  }
}

function member(value: unknown, key: string): unknown {
  return typeof value === 'object' && value !== null && Object.hasOwn(value, key) ? Reflect.get(value, key) : undefined
}
