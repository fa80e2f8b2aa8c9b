// The known name nearest to an unknown one: spelled differently, a few letters off, or shortened.

import { editDistance } from '../lib/text/edit-distance.ts'

const charactersCompared = 64

/** Undefined: no name is near. Of equally near names, the first. */
export function nearestName(name: string, known: readonly string[]): string | undefined {
  const written = plain(name)
  let nearest: { name: string; distance: number } | undefined
  for (const candidate of known) {
    const distance = distanceOf(written, plain(candidate))
    if (distance < (nearest?.distance ?? Number.POSITIVE_INFINITY))
      nearest = { name: candidate, distance }
  }
  return nearest?.name
}

/** `base_url`, `BaseURL` and `baseUrl` are one name. */
function plain(name: string): string {
  return name
    .slice(0, charactersCompared)
    .toLowerCase()
    .replaceAll(/[^a-z0-9]/g, '')
}

/**
 * The number of edits. A shortened name (`env`, `maxTokens`) counts as further than any name that
 * is a few letters off. Infinity: another name.
 */
function distanceOf(written: string, candidate: string): number {
  const edits = editDistance(written, candidate, charactersCompared)
  if (edits <= Math.max(1, Math.floor(Math.min(written.length, candidate.length) / 3))) return edits
  const isShortened =
    written.length >= 3 && written[0] === candidate[0] && isSubsequence(written, candidate)
  const isPart =
    written.length >= 3 &&
    candidate.length >= 3 &&
    (candidate.includes(written) || written.includes(candidate))
  return isShortened || isPart ? charactersCompared + edits : Number.POSITIVE_INFINITY
}

function isSubsequence(short: string, long: string): boolean {
  let found = 0
  for (const letter of long) if (letter === short[found]) found += 1
  return found === short.length
}
