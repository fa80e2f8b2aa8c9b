// Names of tools as models write them: missing, with invisible characters, or nearly right.

import { editDistance } from '../../lib/text/edit-distance.ts'
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
