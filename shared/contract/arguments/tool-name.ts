// Names of tools as models write them: missing, with invisible characters, or nearly right.

import { invisible } from './name-text.ts'

/** The reason why no tool can have this name. Undefined: one can. */
export function nameFault(name: string): 'blank' | 'invisible' | undefined {
  if (invisible.test(name)) return 'invisible'
  return name.trim() === '' ? 'blank' : undefined
}

const namesCompared = 200
const charactersCompared = 64
const editsMax = 3
const namesSuggested = 3

/**
 * The offered names that a model may have meant, nearest first: spelled differently, a few letters
 * off, or one a part of the other. Compares the first 64 characters with the first 200 names,
 * because a response may hold hundreds of wrong names.
 */
export function nearestNames(name: string, offered: readonly string[]): string[] {
  const given = plain(name)
  return offered
    .slice(0, namesCompared)
    .map((candidate) => ({ candidate, distance: distance(given, plain(candidate)) }))
    .filter((near) => near.distance <= editsMax)
    .sort((a, b) => a.distance - b.distance) // stable: equal distances keep the order
    .slice(0, namesSuggested)
    .map(({ candidate }) => candidate)
}

function plain(name: string): string {
  return name
    .slice(0, charactersCompared)
    .toLowerCase()
    .replace(/[-_.\s:/]/g, '')
}

/** More than a third of the letters wrong is another name. */
function distance(a: string, b: string): number {
  const isPart = a.length >= 3 && b.length >= 3 && (a.includes(b) || b.includes(a))
  const edits = editDistance(a, b, Math.min(editsMax, Math.max(1, Math.floor(a.length / 3))))
  return isPart ? Math.min(editsMax, edits) : edits
}

/**
 * The Levenshtein distance, or Infinity beyond `max`: cells further than that from the diagonal do
 * not matter. For texts of up to 64 characters.
 */
function editDistance(a: string, b: string, max: number): number {
  if (Math.abs(a.length - b.length) > max) return Number.POSITIVE_INFINITY
  const far = max + 1
  // One row, in place: `diagonal` is the cell that the step before has overwritten.
  const row = new Uint8Array(b.length + 1).map((_, column) => Math.min(column, far))
  for (let i = 1; i <= a.length; i += 1) {
    const first = Math.max(1, i - max)
    const last = Math.min(b.length, i + max)
    let diagonal = row[first - 1] ?? far
    row[first - 1] = first === 1 ? Math.min(i, far) : far
    let least: number = row[first - 1] ?? far
    for (let j = first; j <= last; j += 1) {
      const above = j === i + max ? far : (row[j] ?? far)
      const replaced = diagonal + (a.charCodeAt(i - 1) === b.charCodeAt(j - 1) ? 0 : 1)
      diagonal = above
      const edits = Math.min(replaced, above + 1, (row[j - 1] ?? far) + 1, far)
      row[j] = edits
      least = Math.min(least, edits)
    }
    if (least > max) return Number.POSITIVE_INFINITY
  }
  const edits = row.at(-1) ?? far
  return edits <= max ? edits : Number.POSITIVE_INFINITY
}
