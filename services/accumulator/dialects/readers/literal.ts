// Reads a value in a spelling of its own as JSON text: a Python literal, or a value between the marks
// of Gemma.

import { type Cursor, skip, skipBlanks, skipItems, skipMatch, upTo } from './cursor.ts'
import { depthMax, type Repair } from './written-json.ts'

/** Each function moves over its part and returns the part as JSON. Undefined: it is not there. */
export type Spelling = {
  name(cursor: Cursor): string | undefined
  scalar(cursor: Cursor, repairs: Set<Repair>): string | undefined
  /** Brackets by their first one. */
  brackets: Record<string, string>
  /** A comma may follow the last item. */
  mayEndInComma: boolean
}

/**
 * The JSON text of the value that begins here, moving after the value. Undefined: there is none, and
 * the cursor stands near the fault.
 */
export function readLiteral(
  cursor: Cursor,
  spelling: Spelling,
  repairs: Set<Repair>,
  depth = 0,
): string | undefined {
  const open = cursor.text[cursor.at] ?? ''
  const close = spelling.brackets[open]
  if (close === undefined) return spelling.scalar(cursor, repairs)
  if (depth >= depthMax) return undefined
  cursor.at += 1
  const items: string[] = []
  const comma = skipItems(cursor, close, () => {
    const name = open === '{' ? memberName(cursor, spelling) : ''
    const value = name === undefined ? name : readLiteral(cursor, spelling, repairs, depth + 1)
    if (value !== undefined) items.push(name + value)
    return value !== undefined
  })
  if (comma === undefined || (comma >= 0 && !spelling.mayEndInComma)) return undefined
  // Parentheses around one value without a comma are only parentheses.
  if (open === '(' && items.length === 1 && comma < 0) return items[0]
  return open === '{' ? `{${items.join(',')}}` : `[${items.join(',')}]`
}

function memberName(cursor: Cursor, { name }: Spelling): string | undefined {
  const json = name(cursor)
  skipBlanks(cursor)
  if (json === undefined || !skip(cursor, ':')) return undefined
  skipBlanks(cursor)
  return `${json}:`
}

const bareNameHere = /[A-Za-z0-9_.$-]{1,256}(?=:)/y
const bareScalarHere =
  /(?:true|false|null|-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?)(?=[,}\]\s])/y

/** Bare names, and texts without escapes between two marks `quote` that no text can contain. */
export function gemmaSpelling(quote: string): Spelling {
  return {
    name: (cursor) => inQuotes(skipMatch(cursor, bareNameHere)?.[0]),
    scalar: (cursor) =>
      skip(cursor, quote) ? inQuotes(upTo(cursor, quote)) : skipMatch(cursor, bareScalarHere)?.[0],
    brackets: { '[': ']', '{': '}' },
    mayEndInComma: false,
  }
}

function inQuotes(text: string | undefined): string | undefined {
  return text === undefined ? undefined : JSON.stringify(text)
}
