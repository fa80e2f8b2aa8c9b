// Calls in Python syntax: a list of calls, or one call in each line. Arguments have names, and values
// are literals of Python (literal.ts). Without a list or marks a call is no call but code.

import type { Grammar, Reading, WrittenCall } from '../dialect.ts'
import { type Cursor, isAt, skip, skipBlanks, skipItems, skipMatch } from '../readers/cursor.ts'
import { pythonSpelling, readLiteral } from '../readers/literal.ts'
import type { Repair } from '../readers/written-json.ts'

/**
 * `fence`: the language of a code fence instead of marks. `isOptional`: the closing mark may be
 * missing. `hasLines`: calls may stand in lines, without a list. `isPrinted`: calls may be printed,
 * and may be members of `default_api`.
 */
type Options = { fence?: string; isOptional?: true; hasLines?: true; isPrinted?: true }
type PythonMarks = Options & { open: string; close: string }

export function python(open: string, close: string, options: Options = {}): Grammar {
  return (text, fence) =>
    text.startsWith(open) && (options.fence === undefined || options.fence === fence)
      ? () => readAll({ text, at: open.length }, { open, close, ...options })
      : undefined
}

const nameHere = /[A-Za-z_][A-Za-z0-9_.-]{0,255}/y
const inList = /\[\s{0,64}[A-Za-z_][A-Za-z0-9_.-]{0,255}\(/y
const inLine = /(?:print\(\s{0,64})?[A-Za-z_][A-Za-z0-9_.-]{0,255}\(/y
/** JSON in these marks is of another dialect. */
const jsonHere = /\[\s{0,64}\{|\{/y

/** The calls so far. `names`: of each call as soon as its name is visible. */
type Calls = { calls: WrittenCall[]; names: string[]; repairs: Set<Repair>; mayBePrinted: boolean }

function readAll(cursor: Cursor, marks: PythonMarks): Reading | undefined {
  const { open, close, isOptional, hasLines, isPrinted = false } = marks
  const { text } = cursor
  const marked = open !== ''
  skipBlanks(cursor)
  const isList = isAt(cursor, inList)
  const isCalls = isList || (hasLines && isAt(cursor, inLine))
  const isOnlyPython = marked && !hasLines && !isAt(cursor, jsonHere)
  if (!isCalls && !isOnlyPython) return undefined
  const read: Calls = { calls: [], names: [], repairs: new Set(), mayBePrinted: isPrinted }
  const hasBrackets = isList || !hasLines
  const isWhole =
    (hasBrackets ? readList : readLines)(cursor, read) && (skip(cursor, close) || isOptional)
  const { calls, names, repairs } = read
  if (isWhole)
    return cursor.at === text.length ? { kind: 'calls', calls, repairs, marked } : undefined
  // Without a mark around it, calls that continue unlike calls are none, unless they were cut.
  const isOpen = !marked && !text.endsWith(hasBrackets ? ')]' : ')')
  const why = 'a call in this form must have a name for each argument and literals as values'
  return { kind: 'broken', names, why, marked, isOpen }
}

/** A comma may follow the last call, as in any list of Python. */
function readList(cursor: Cursor, read: Calls): boolean {
  const isEnded =
    skip(cursor, '[') && skipItems(cursor, ']', () => readOne(cursor, read)) !== undefined
  skipBlanks(cursor)
  return isEnded && read.calls.length > 0
}

const sameLine = /[ \t\r]{0,64}/y

/** One call in each line. */
function readLines(cursor: Cursor, read: Calls): boolean {
  do {
    skipBlanks(cursor)
    if (read.calls.length > 0 && !isAt(cursor, inLine)) return true
    if (!readOne(cursor, read)) return false
    skipMatch(cursor, sameLine)
  } while (cursor.text[cursor.at] === '\n')
  return true
}

const printed = /print\(\s{0,64}(?=[A-Za-z_][A-Za-z0-9_.-]{0,255}\()/y
const api = 'default_api.'

function readOne(cursor: Cursor, { calls, names, repairs, mayBePrinted }: Calls): boolean {
  const isPrinted = mayBePrinted && skipMatch(cursor, printed) !== undefined
  if (mayBePrinted) skip(cursor, api)
  const [name] = skipMatch(cursor, nameHere) ?? []
  if (name === undefined) return false
  names.push(name)
  const json = skip(cursor, '(') ? argumentsHere(cursor, repairs) : undefined
  if (json === undefined) return false
  calls.push({ names: [name], id: '', arguments: { kind: 'json', json } })
  if (!isPrinted) return true
  skipBlanks(cursor)
  return skip(cursor, ')')
}

function argumentsHere(cursor: Cursor, repairs: Set<Repair>): string | undefined {
  const members = new Map<string, string>()
  const end = skipItems(cursor, ')', () => {
    const [key] = skipMatch(cursor, nameHere) ?? []
    skipBlanks(cursor)
    if (key === undefined || members.has(key) || !skip(cursor, '=')) return false
    skipBlanks(cursor)
    const value = readLiteral(cursor, pythonSpelling, repairs)
    if (value !== undefined) members.set(key, `${JSON.stringify(key)}:${value}`)
    return value !== undefined
  })
  return end === undefined ? undefined : `{${[...members.values()].join(',')}}`
}
