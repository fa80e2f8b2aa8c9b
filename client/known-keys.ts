// Refuses an option that does not exist, because a misspelt one would have no effect.

import { type ErrorCode, WeirError } from '../shared/lib/errors.ts'
import { alternatives } from '../shared/settings/mistake.ts'
import { nearestName } from '../shared/settings/nearest-name.ts'

/** `subject`: the function with these options. */
export function refuseUnknownKeys(
  given: object,
  known: readonly string[],
  { code, subject }: { code: ErrorCode; subject: string },
): void {
  const texts = Object.keys(given)
    .filter((key) => !known.includes(key))
    .map((key) => {
      const near = nearestName(key, known)
      const advice =
        near === undefined
          ? `the options are ${alternatives(known, 'and')}`
          : `did you mean ${near}?`
      return `unknown option ${key} of ${subject}; ${advice}`
    })
  if (texts.length > 0) throw new WeirError(code, texts.join('\n'))
}
