// Reads JSON as models write it in text. The result is strict JSON text: the same characters,
// except for repairs that cannot change a value.
//
// WRITTEN-JSON-1. Repairs: a comma before a closing bracket, Python's True, False and None, and the
//     repairs of a string (json-string.ts). Each repair is named.
// WRITTEN-JSON-2. Nothing open is closed: a string, number, array or object without an end cannot
//     be read (I1.1).
// WRITTEN-JSON-3. One pass reads every character a bounded number of times. Nesting is bounded.

import { limits } from '../../../../shared/contract/limits.ts'
import { type Cursor, skip, skipBlanks, skipItems, skipMatch } from './cursor.ts'
import { jsonString, type StringMending } from './json-string.ts'

export type Repair =
  | 'fence'
  | 'trailing-comma'
  | 'python-word'
  | 'json-word'
  | 'encoded-twice'
  | 'encoded-value'
  | 'no-arguments'
  | StringMending

/** Read the characters from `from` to `to` as `text`. Edits are in the order of the text. */
type Edit = { repairs: Repair[]; from: number; to: number; text: string; isJsonOnly?: boolean }

/** The maximum for arguments, and a little more for the frames around them. */
export const depthMax = limits.argumentDepthMax + 4

/**
 * The value that begins here as strict JSON text, moving behind it. Undefined: it cannot be read,
 * and the cursor stands at the fault.
 */
export function readJson(cursor: Cursor, repairs: Set<Repair>): string | undefined {
  const from = cursor.at
  const edits: Edit[] = []
  if (!value(cursor, edits, 0)) return undefined
  const hasRepair = (...some: Repair[]) =>
    edits.some(({ repairs }) => some.some((repair) => repairs.includes(repair)))
  // Signs of Python beside a string that Python reads differently (JSON-STRING-2).
  if (edits.some((edit) => edit.isJsonOnly) && hasRepair('python-word', 'single-quotes')) {
    cursor.at = from
    return undefined
  }
  for (const edit of edits) for (const repair of edit.repairs) repairs.add(repair)
  return edited(cursor.text, from, cursor.at, edits)
}

// ── Values ──

const numberHere = /-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?/y
const wordHere = /true|false|null|True|False|None/y

/** JSON's spelling of each word. */
export const pythonWords: ReadonlyMap<string, string> = new Map([
  ['True', 'true'],
  ['False', 'false'],
  ['None', 'null'],
])

/** Each function reads one thing at the cursor and returns whether it is there and whole. */
function value(cursor: Cursor, edits: Edit[], depth: number): boolean {
  switch (cursor.text[cursor.at]) {
    case '{':
      return items(cursor, edits, '}', depth, () => member(cursor, edits, depth + 1))
    case '[':
      return items(cursor, edits, ']', depth, () => value(cursor, edits, depth + 1))
    case '"':
    case "'":
      return string(cursor, edits)
    default:
      return word(cursor, edits) || skipMatch(cursor, numberHere) !== undefined
  }
}

function items(
  cursor: Cursor,
  edits: Edit[],
  close: string,
  depth: number,
  item: () => boolean,
): boolean {
  if (depth >= depthMax) return false
  cursor.at += 1
  const comma = skipItems(cursor, close, item)
  if (comma !== undefined && comma >= 0)
    edits.push({ repairs: ['trailing-comma'], from: comma, to: comma + 1, text: '' })
  return comma !== undefined
}

function member(cursor: Cursor, edits: Edit[], depth: number): boolean {
  const first = cursor.text[cursor.at]
  if (first !== '"' && first !== "'") return false
  if (!value(cursor, edits, depth)) return false
  skipBlanks(cursor)
  if (!skip(cursor, ':')) return false
  skipBlanks(cursor)
  return value(cursor, edits, depth)
}

function string(cursor: Cursor, edits: Edit[]): boolean {
  const from = cursor.at
  const read = jsonString(cursor)
  if (read === undefined) return false
  const { spelling, how, isJsonOnly } = read
  if (spelling === undefined && !isJsonOnly) return true
  const text = spelling ?? cursor.text.slice(from, cursor.at)
  edits.push({ repairs: how, from, to: cursor.at, text, isJsonOnly })
  return true
}

function word(cursor: Cursor, edits: Edit[]): boolean {
  const from = cursor.at
  const [found] = skipMatch(cursor, wordHere) ?? []
  const text = found === undefined ? undefined : pythonWords.get(found)
  if (text !== undefined) edits.push({ repairs: ['python-word'], from, to: cursor.at, text })
  return found !== undefined
}

function edited(text: string, from: number, to: number, edits: Edit[]): string {
  let copied = from
  const pieces = edits.map((edit) => {
    const piece = text.slice(copied, edit.from) + edit.text
    copied = edit.to
    return piece
  })
  return pieces.join('') + text.slice(copied, to)
}
