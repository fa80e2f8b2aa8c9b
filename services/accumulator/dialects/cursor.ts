// A place in a text that only moves forward: what every dialect reads with. Nothing here looks at a
// character twice, so a dialect that is made of these steps, and gives up at the first one that
// fails, is linear in its text.

export type Cursor = { readonly text: string; at: number }

/** Moves over blanks: JSON's own, which are also all that stand between marks. */
export function skipBlanks(cursor: Cursor): void {
  const { text } = cursor
  for (
    let found = text.charCodeAt(cursor.at);
    found === 0x20 || found === 0x0a || found === 0x0d || found === 0x09;
  )
    found = text.charCodeAt(++cursor.at)
}

/** Moves over `mark`, if it stands here. */
export function took(cursor: Cursor, mark: string): boolean {
  if (!cursor.text.startsWith(mark, cursor.at)) return false
  cursor.at += mark.length
  return true
}

/**
 * Moves over what a sticky expression finds here. It must not search far: a bounded number of
 * characters, or a class of them.
 */
export function tookMatch(cursor: Cursor, expression: RegExp): RegExpExecArray | undefined {
  expression.lastIndex = cursor.at
  const match = expression.exec(cursor.text) ?? undefined
  if (match !== undefined) cursor.at = expression.lastIndex
  return match
}

/**
 * The text from here to the next `mark`, moving behind it; undefined, and no move, where there is
 * none.
 */
export function upTo(cursor: Cursor, mark: string): string | undefined {
  const end = cursor.text.indexOf(mark, cursor.at)
  if (end === -1) return undefined
  const before = cursor.text.slice(cursor.at, end)
  cursor.at = end + mark.length
  return before
}

/**
 * As upTo, for a text between tags; undefined too where the tag `open` begins again in it: the end
 * of this one is missing then, or the text speaks of tags, and which of both nobody can tell.
 */
export function upToClose(cursor: Cursor, open: string, close: string): string | undefined {
  const start = cursor.at
  const inside = upTo(cursor, close)
  if (inside === undefined || !inside.includes(open)) return inside
  cursor.at = start
  return undefined
}

export function isOver({ text, at }: Cursor): boolean {
  return at >= text.length
}
