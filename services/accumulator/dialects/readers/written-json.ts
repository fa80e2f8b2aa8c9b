// Reads JSON as models write it in text. The result is strict JSON text: the same characters,
// except for repairs that cannot change a value.
//
//     trailing-comma     {"a":1,}                      the comma is removed
//     python-word        {"a":True,"b":None}           true, null
//     single-quotes      'b'                           with double quotes
//     control-character  a line end inside a string    as its escape
//     escaped-quote      "it\'s"                       without the backslash
//
// There are no other repairs of a text, and each one is named.
// Nothing open is closed: a string, number, array or object without an end cannot
// be read (I1.1).
// One pass reads every character a bounded number of times. Nesting is bounded.
// No other escape is repaired. Readers differ in each of them: `\d` is `d` for
// JavaScript and `\d` for Python, and `\x41`, `\0`, `\a` and `\u{…}` have even more readings.
// Python reads `\/` and an escaped surrogate pair differently from JSON. A string in
// single quotes with one of them has two readings. A text with Python's words has them too.

import { limits } from '../../../../shared/contract/limits.ts'
import { type Cursor, skip, skipBlanks, skipItems, skipMatch } from './cursor.ts'

export type Repair =
  | 'fence'
  | 'trailing-comma'
  | 'python-word'
  | 'json-word'
  | 'encoded-twice'
  | 'encoded-value'
  | 'no-arguments'
  | 'single-quotes'
  | 'control-character'
  | 'escaped-quote'

/** Read the characters from `from` to `to` as `text`. Edits are in the order of the text. */
type Edit = { repairs: Repair[]; from: number; to: number; text: string; isJsonOnly?: boolean }

/** The maximum for arguments, and a little more for the frames around them. */
export const depthMax = limits.argumentDepthMax + 4

/**
 * The value that begins here as strict JSON text, moving after it. Undefined: it cannot be read,
 * and the cursor stands at the fault.
 */
export function readJson(cursor: Cursor, repairs: Set<Repair>): string | undefined {
  const from = cursor.at
  const edits: Edit[] = []
  if (!value(cursor, edits, 0)) return undefined
  const hasRepair = (...some: Repair[]) =>
    edits.some(({ repairs }) => some.some((repair) => repairs.includes(repair)))
  // Signs of Python next to a string that Python reads differently.
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

/** Characters and escapes that are the same in both quotes. The stack fits runs of this length. */
const plainHere =
  /(?:[ !#-&(-[\]-\uffff]|\\(?:["\\bfnrt]|u(?![dD][89a-fA-F])[0-9a-fA-F]{4})){1,4096}/y
/** The escapes that Python reads differently. */
const jsonOnlyHere = /\\(?:\/|u[0-9a-fA-F]{4})/y

/** A string in either quotes, with an end and one reading. */
function string(cursor: Cursor, edits: Edit[]): boolean {
  const { text, at: from } = cursor
  const quote = text[from]
  const repairs = new Set<Repair>()
  const pieces: string[] = []
  let isJsonOnly = false
  let copied = from + 1
  cursor.at += 1
  const replace = (length: number, spelling: string, repair?: Repair): void => {
    pieces.push(text.slice(copied, cursor.at), spelling)
    cursor.at += length
    copied = cursor.at
    if (repair !== undefined) repairs.add(repair)
  }
  for (let found = text[cursor.at]; found !== quote; found = text[cursor.at]) {
    if (found === undefined) return false
    if (skip(cursor, plainHere)) continue
    if (found < ' ') replace(1, JSON.stringify(found).slice(1, -1), 'control-character')
    else if (found === '"') replace(1, '\\"')
    else if (found === "'") cursor.at += 1
    else if (text.startsWith("\\'", cursor.at))
      replace(2, "'", quote === '"' ? 'escaped-quote' : undefined)
    else if (skip(cursor, jsonOnlyHere)) isJsonOnly = true
    else return false
  }
  if (isJsonOnly && quote === "'") return false
  if (quote === "'") repairs.add('single-quotes')
  pieces.push(text.slice(copied, cursor.at))
  cursor.at += 1
  if (repairs.size > 0 || isJsonOnly)
    edits.push({
      repairs: [...repairs],
      from,
      to: cursor.at,
      text: `"${pieces.join('')}"`,
      isJsonOnly,
    })
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
