// The differences between the arguments of two calls: by member if both are JSON objects, otherwise
// by word. Pure.

import { type WordPiece, wordDiff } from './word-diff.ts'

export type ArgumentDiff = {
  /** The number of members with the same value in both. */
  unchanged: number
  members: MemberDiff[]
}

/** `path`: as in `user.tags[0]`; '' for the whole text. `pieces`: of a change. */
export type MemberDiff =
  | { kind: 'added' | 'removed'; path: string; text: string }
  | { kind: 'changed'; path: string; pieces: WordPiece[] }

/** The limit of members; a larger object is compared as a text. */
const membersMax = 500

export function argumentDiff(before: string, after: string): ArgumentDiff {
  const a = membersOf(before)
  const b = membersOf(after)
  if (a === undefined || b === undefined)
    return before === after
      ? { unchanged: 1, members: [] }
      : { unchanged: 0, members: [{ kind: 'changed', path: '', pieces: wordDiff(before, after) }] }
  const members: MemberDiff[] = []
  let unchanged = 0
  for (const [path, text] of a) {
    const now = b.get(path)
    if (now === text) unchanged += 1
    else if (now === undefined) members.push({ kind: 'removed', path, text })
    else members.push({ kind: 'changed', path, pieces: wordDiff(text, now) })
  }
  for (const [path, text] of b) if (!a.has(path)) members.push({ kind: 'added', path, text })
  return { unchanged, members }
}

/**
 * By path, in the order of the text. Strings as they are, other values as JSON. Undefined: not a
 * JSON object, or one with too many members.
 */
function membersOf(raw: string): Map<string, string> | undefined {
  const members = new Map<string, string>()
  try {
    const value: unknown = JSON.parse(raw)
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined
    take(members, '', value)
  } catch {
    return undefined
  }
  return members.size > membersMax ? undefined : members
}

function take(members: Map<string, string>, path: string, value: unknown): void {
  if (members.size > membersMax) return
  if (typeof value !== 'object' || value === null || Object.keys(value).length === 0) {
    if (path !== '') members.set(path, typeof value === 'string' ? value : JSON.stringify(value))
    return
  }
  const place = path === '' ? '' : `${path}.`
  for (const [key, inner] of Object.entries(value))
    take(members, Array.isArray(value) ? `${path}[${key}]` : `${place}${key}`, inner)
}
