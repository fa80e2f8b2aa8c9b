// Refuses an option that does not exist, because a misspelt one would have no effect.

import { type ErrorCode, WeirError } from '../shared/lib/errors.ts'
import { shortened } from '../shared/lib/text-cut.ts'
import { alternatives } from '../shared/settings/mistake.ts'
import { nearestName } from '../shared/settings/nearest-name.ts'

/** `subject`: the function with these options. */
export function refuseUnknownKeys(
  given: object,
  known: readonly string[],
  { code, subject }: { code: ErrorCode; subject: string },
): void {
  const unknown = Object.keys(given).filter((key) => !known.includes(key))
  if (unknown.length === 0) return
  // A client may send millions of keys, and each search for a near name takes time.
  const texts = unknown.slice(0, namedMax).map((key) => {
    const near = nearestName(key, known)
    const advice =
      near === undefined ? `the options are ${alternatives(known, 'and')}` : `did you mean ${near}?`
    return `unknown option ${shortened(key, keyCharactersMax)} of ${subject}; ${advice}`
  })
  const left = unknown.length - texts.length
  if (left > 0) texts.push(`${left} more unknown options of ${subject}`)
  throw new WeirError(code, texts.join('\n'))
}

const namedMax = 8
const keyCharactersMax = 64
