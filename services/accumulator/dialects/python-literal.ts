// Reads a Python literal as JSON text: the values that Python's ast.literal_eval accepts and JSON
// can hold.
//
// PYTHON-LITERAL-1. Strings, numbers and their escapes have Python's rules, with every prefix but
//     those of bytes and f-strings. The value is Python's, or there is none.
// PYTHON-LITERAL-2. Refused, because JSON has no such value: bytes, sets, complex numbers, infinity,
//     names that are no text, half characters. A tuple becomes a list, as in Python's json.
// PYTHON-LITERAL-3. Refused, because a model's intent is open: two strings side by side. Python
//     joins them, but from a model a comma is lost as often. Comments are refused too.
// PYTHON-LITERAL-4. Refused, because its table is Python's: `\N{…}`. JSON's true, false and null are
//     accepted as a repair: Olmo 3 writes them, and a literal has no other meaning for them.

import { limits } from '../../../shared/contract/limits.ts'
import { pythonWords } from '../python-words.ts'
import { type Cursor, skipBlanks, skipMark, skipMatch } from './cursor.ts'
import { pythonNumber } from './python-number.ts'
import { pythonString } from './python-string.ts'
import type { Repair } from './written-json.ts'

/** The maximum for arguments, and a little more for the frames around them. */
const depthMax = limits.argumentDepthMax + 4

/**
 * The JSON text of the literal that begins here, moving behind it. Undefined: it is none, and the
 * cursor stands near the fault.
 */
export function pythonLiteral(cursor: Cursor, repairs: Set<Repair>, depth = 0): string | undefined {
  const found = cursor.text[cursor.at]
  if (found !== undefined && '[({'.includes(found)) {
    if (depth >= depthMax) return undefined
    cursor.at += 1
    if (found === '[') return list(cursor, repairs, depth + 1)
    return found === '(' ? tuple(cursor, repairs, depth + 1) : dict(cursor, repairs, depth + 1)
  }
  return word(cursor, repairs) ?? pythonNumber(cursor) ?? pythonString(cursor)
}

const wordHere = /(?:True|False|None|true|false|null)(?![\p{L}\p{N}_"'])/uy

function word(cursor: Cursor, repairs: Set<Repair>): string | undefined {
  const [found] = skipMatch(cursor, wordHere) ?? []
  if (found === undefined) return undefined
  const json = pythonWords.get(found)
  if (json === undefined) repairs.add('json-word')
  return json ?? found
}

function list(cursor: Cursor, repairs: Set<Repair>, depth: number): string | undefined {
  const items = sequence(cursor, ']', () => pythonLiteral(cursor, repairs, depth))
  return items && `[${items.texts.join(',')}]`
}

/** Brackets around one value without a comma are only brackets. */
function tuple(cursor: Cursor, repairs: Set<Repair>, depth: number): string | undefined {
  const items = sequence(cursor, ')', () => pythonLiteral(cursor, repairs, depth))
  if (items === undefined) return undefined
  return items.texts.length === 1 && !items.hasComma ? items.texts[0] : `[${items.texts.join(',')}]`
}

function dict(cursor: Cursor, repairs: Set<Repair>, depth: number): string | undefined {
  const members = sequence(cursor, '}', () => {
    const name = pythonString(cursor)
    skipBlanks(cursor)
    if (name === undefined || !skipMark(cursor, ':')) return undefined
    skipBlanks(cursor)
    const value = pythonLiteral(cursor, repairs, depth)
    return value === undefined ? undefined : `${name}:${value}`
  })
  return members && `{${members.texts.join(',')}}`
}

/** Items with commas between them, and perhaps one at the end. The cursor is behind the bracket. */
function sequence(
  cursor: Cursor,
  close: string,
  item: () => string | undefined,
): { texts: string[]; hasComma: boolean } | undefined {
  const texts: string[] = []
  let hasComma = false
  for (skipBlanks(cursor); !skipMark(cursor, close); skipBlanks(cursor)) {
    if (texts.length > 0 && !hasComma) return undefined
    const text = item()
    if (text === undefined) return undefined
    texts.push(text)
    skipBlanks(cursor)
    hasComma = skipMark(cursor, ',')
  }
  return { texts, hasComma }
}
