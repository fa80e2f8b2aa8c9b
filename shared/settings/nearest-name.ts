// The name that somebody may have meant who wrote another one: spelled differently, a few letters
// off, or shortened.

const charactersCompared = 64

/** Undefined: none is near. Of names that are as near, the first. */
export function nearestName(name: string, known: readonly string[]): string | undefined {
  const wanted = plain(name)
  let nearest: { name: string; distance: number } | undefined
  for (const candidate of known) {
    const distance = distanceOf(wanted, plain(candidate))
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
 * Edits; a name that was shortened (`env`, `maxTokens`) counts as further than any that is a few
 * letters off. Infinity: another name.
 */
function distanceOf(wanted: string, candidate: string): number {
  const edits = editDistance(wanted, candidate)
  if (edits <= Math.max(1, Math.floor(Math.min(wanted.length, candidate.length) / 3))) return edits
  const isShortened =
    wanted.length >= 3 && wanted[0] === candidate[0] && isSubsequence(wanted, candidate)
  const isPart =
    wanted.length >= 3 &&
    candidate.length >= 3 &&
    (candidate.includes(wanted) || wanted.includes(candidate))
  return isShortened || isPart ? charactersCompared + edits : Number.POSITIVE_INFINITY
}

/** Levenshtein's. */
function editDistance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, column) => column)
  for (const [i, letter] of [...a].entries()) {
    const next = [i + 1]
    for (let column = 1; column <= b.length; column += 1) {
      const replaced = (row[column - 1] ?? 0) + (letter === b[column - 1] ? 0 : 1)
      next.push(Math.min(replaced, (row[column] ?? 0) + 1, (next[column - 1] ?? 0) + 1))
    }
    row = next
  }
  return row[b.length] ?? 0
}

function isSubsequence(short: string, long: string): boolean {
  let found = 0
  for (const letter of long) if (letter === short[found]) found += 1
  return found === short.length
}
