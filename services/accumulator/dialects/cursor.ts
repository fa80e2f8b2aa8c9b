// A place in a text that only moves forward. Every dialect reads with it. No step reads a character
// twice, so a dialect that stops at its first failed step is linear in its text.

export type Cursor = { readonly text: string; at: number }

/** Moves over blanks as JSON defines them. No other blanks stand between marks. */
export function skipBlanks(cursor: Cursor): void {
  const { text } = cursor
  for (
    let found = text.charCodeAt(cursor.at);
    found === 0x20 || found === 0x0a || found === 0x0d || found === 0x09;
  )
    found = text.charCodeAt(++cursor.at)
}

/** Moves over `mark` and returns true if the mark is here. */
export function skipMark(cursor: Cursor, mark: string): boolean {
  if (!cursor.text.startsWith(mark, cursor.at)) return false
  cursor.at += mark.length
  return true
}

/**
 * Moves over the match of a sticky expression. The expression must not search far: only a bounded
 * number of characters, or a class of them.
 */
export function skipMatch(cursor: Cursor, expression: RegExp): RegExpExecArray | undefined {
  expression.lastIndex = cursor.at
  const match = expression.exec(cursor.text) ?? undefined
  if (match !== undefined) cursor.at = expression.lastIndex
  return match
}

/**
 * The text from here to the next `mark`, moving behind it. Without a mark: undefined, and the
 * cursor stays.
 */
export function upTo(cursor: Cursor, mark: string): string | undefined {
  const end = cursor.text.indexOf(mark, cursor.at)
  if (end === -1) return undefined
  const before = cursor.text.slice(cursor.at, end)
  cursor.at = end + mark.length
  return before
}

/**
 * Like upTo, for a text between tags. Also undefined if the tag `open` occurs in it: either this
 * tag's end is missing, or the text talks about tags.
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
