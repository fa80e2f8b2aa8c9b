// Refuses unknown keys of a guard's options, and names the nearest known key. A guard that ignored
// a key would not do its operator's will.

import { nearestName } from '../../settings/nearest-name.ts'

/**
 * The fault of the first key of `given` that is not in `known`, as a part of a sentence. Undefined:
 * all keys are known.
 */
export function keyFault(given: unknown, known: readonly string[]): string | undefined {
  if (typeof given !== 'object' || given === null) return undefined
  const key = Object.keys(given).find((name) => !known.includes(name))
  if (key === undefined) return undefined
  const near = nearestName(key, known)
  return `${JSON.stringify(key.slice(0, 80))}, which is no key here; ${near === undefined ? `there are ${known.join(', ')}` : `did you mean ${near}?`}`
}
