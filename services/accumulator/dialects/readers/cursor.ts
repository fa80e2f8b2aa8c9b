// A place in a text that only moves forward. Every grammar reads with it. A reader that stops at its
// first failed step is linear in its text.

import { spaceEnd } from '../../../../shared/lib/json/tokens.ts'

export type Cursor = { readonly text: string; at: number }

/**
 * A text, or a sticky expression that does not search far: it reads a bounded number of characters,
 * or a class of them.
 */
export type Mark = string | RegExp

/** Moves over blanks as JSON defines them. No other blanks stand between marks. */
export function skipBlanks(cursor: Cursor): void {
  cursor.at = spaceEnd(cursor.text, cursor.at)
}

/** Moves over the match of a sticky expression. */
export function skipMatch(cursor: Cursor, expression: RegExp): RegExpExecArray | undefined {
  expression.lastIndex = cursor.at
  const match = expression.exec(cursor.text) ?? undefined
  if (match !== undefined) cursor.at = expression.lastIndex
  return match
}

/** Moves over `mark` and returns true if the mark is here. */
export function skip(cursor: Cursor, mark: Mark): boolean {
  if (typeof mark !== 'string') return skipMatch(cursor, mark) !== undefined
  if (!cursor.text.startsWith(mark, cursor.at)) return false
  cursor.at += mark.length
  return true
}

export function isAt({ text, at }: Cursor, mark: RegExp): boolean {
  mark.lastIndex = at
  return mark.test(text)
}

/**
 * The text from here to the next `mark`, moving after the mark. Undefined: there is no mark, or
 * `never` occurs in the text, because a tag in the text is damaged or has no end.
 */
export function upTo(cursor: Cursor, mark: string, never?: RegExp): string | undefined {
  const end = cursor.text.indexOf(mark, cursor.at)
  if (end === -1) return undefined
  const before = cursor.text.slice(cursor.at, end)
  cursor.at = end + mark.length
  return never?.test(before) ? undefined : before
}

/**
 * Moves over items with commas between them and over `close`. Returns the place of a comma before
 * `close`, -1 without such a comma. Undefined: an item, a comma or `close` is missing.
 */
export function skipItems(cursor: Cursor, close: string, item: () => boolean): number | undefined {
  let comma = -1
  for (skipBlanks(cursor); !skip(cursor, close); skipBlanks(cursor)) {
    if (!item()) return undefined
    skipBlanks(cursor)
    comma = cursor.at
    if (skip(cursor, ',')) continue
    return skip(cursor, close) ? -1 : undefined
  }
  return comma
}

export function isOver({ text, at }: Cursor): boolean {
  return at >= text.length
}

/**
 * A sticky expression from a template. Texts in it are escaped and expressions inserted. A `~`
 * stands for blanks as JSON defines them, and NAME for a tool's name.
 */
export function mark({ raw }: TemplateStringsArray, ...parts: (string | RegExp)[]): RegExp {
  const sources = parts.map((part) =>
    typeof part === 'string' ? part.replaceAll(/[|[\]]/g, '\\$&') : part.source,
  )
  const pattern = String.raw({ raw }, ...sources)
  const name = '(?<name>[A-Za-z0-9_.:/-]{1,256})'
  return new RegExp(pattern.replaceAll('~', '[ \\n\\r\\t]*').replaceAll('NAME', name), 'y')
}
