// A key that nobody reads would be a guard that does not do what its operator wrote: it is refused,
// and the text names what was meant.

import { nearestName } from '../../settings/nearest-name.ts'

/**
 * What is wrong with the first key of `given` that is none of `known`, as a part of a sentence;
 * undefined: all are known.
 */
export function unknownKey(given: unknown, known: readonly string[]): string | undefined {
  if (typeof given !== 'object' || given === null) return undefined
  const key = Object.keys(given).find((name) => !known.includes(name))
  if (key === undefined) return undefined
  const near = nearestName(key, known)
  return `${JSON.stringify(key.slice(0, 80))}, which is no key here; ${near === undefined ? `there are ${known.join(', ')}` : `did you mean ${near}?`}`
}
