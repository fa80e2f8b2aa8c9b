// The identity of a call: the part of its arguments that distinguishes it from other calls.
//
// The hints of a tool may exclude arguments that only comment ("reason", "explanation"). Models
// reword them each time, which would hide a loop. Or the hints name the few arguments that count.
// With both kinds of hints, both apply. Names alone decide nothing: a `reason` may be the point of
// a call.

import { foundAt, stepsOf, withoutPath } from '../arguments/argument-path.ts'
import type { ToolHints } from '../messages.ts'

export type IdentityHints = Pick<ToolHints, 'ignoreFields' | 'loopKey'> & Partial<ToolHints>

/** The value that identifies a call. `parsed`: all of its arguments. */
export function identityOf(parsed: unknown, hints: IdentityHints | null | undefined): unknown {
  if (hints === null || hints === undefined) return parsed
  const { ignoreFields, loopKey } = hints
  // Exclude first: an excluded path may be inside a key.
  const kept = ignoreFields.reduce((value, path) => withoutPath(value, stepsOf(path)), parsed)
  const keyed = loopKey.map((path): [string, unknown] => [
    path,
    oneOf(foundAt(kept, stepsOf(path))),
  ])
  // A key that matches nothing would make all calls equal.
  return keyed.every(([, value]) => value === null) ? kept : Object.fromEntries(keyed)
}

/** A missing value and null are the same. */
function oneOf(found: unknown[]): unknown {
  return found.length < 2 ? (found[0] ?? null) : found
}
