// Which of a call's arguments say what call it is. A tool's hints may leave some out, those that
// only comment ("reason", "explanation"): models word them anew each time, so a loop would never
// look like one. Or they name the few that alone count. Nothing is guessed from names: a `reason`
// may as well be the point of a call. Where a tool has hints of both kinds, both hold.

import { foundAt, stepsOf, withoutPath } from '../../shared/contract/arguments/argument-path.ts'
import type { ToolHints } from '../../shared/contract/messages.ts'

/** The value that identifies a call; `parsed`: all of its arguments. */
export function identityOf(parsed: unknown, hints: ToolHints | null | undefined): unknown {
  if (hints === null || hints === undefined) return parsed
  const { ignoreFields, loopKey } = hints
  // First what is left out: it may stand inside of what counts.
  const said = ignoreFields.reduce((value, path) => withoutPath(value, stepsOf(path)), parsed)
  const keyed = loopKey.map((path): [string, unknown] => [
    path,
    oneOf(foundAt(said, stepsOf(path))),
  ])
  // A key that leads nowhere would make one call of all.
  return keyed.every(([, value]) => value === null) ? said : Object.fromEntries(keyed)
}

/** What is not there, and null, is the same nothing. */
function oneOf(found: unknown[]): unknown {
  return found.length < 2 ? (found[0] ?? null) : found
}
