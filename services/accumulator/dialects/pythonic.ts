// Calls in Python syntax: [weather(city="Paris", days=3), now()], as Llama 3.2, Llama 4 and LFM2
// write them, or one call in each line between marks, as Olmo 3 does. Arguments have names, and
// values are literals of Python (python-literal.ts). Gemma 3 writes them in a fence with the language tool_code, often as
// print(default_api.now()). Without a list or marks a call is no call but code. Sources: vLLM
// tool_parsers/olmo3_tool_parser.py, llama4_pythonic_tool_parser.py and lfm2_tool_parser.py.

import { type Cursor, isOver, skipBlanks, skipMark, skipMatch } from './cursor.ts'
import type { Dialect, Reading, WrittenCall } from './dialect.ts'
import { pythonLiteral } from './python-literal.ts'
import type { Repair } from './written-json.ts'

/**
 * `fence`: the language of a code fence instead of marks. `isOptional`: the closing mark may be
 * missing. `hasLines`: calls may stand in lines, without a list. `isPrinted`: calls may be printed,
 * and may be members of `default_api`.
 */
type Frame = {
  open: string
  close: string
  fence?: string
  isOptional?: true
  hasLines?: true
  isPrinted?: true
}

const frames: Frame[] = [
  { open: '<|tool_call_start|>', close: '<|tool_call_end|>' }, // LFM2
  { open: '<|python_start|>', close: '<|python_end|>', isOptional: true }, // Llama 4
  { open: '<function_calls>', close: '</function_calls>', hasLines: true }, // Olmo 3
  { open: '<tool_code>', close: '</tool_code>', hasLines: true, isPrinted: true },
  { open: '', close: '', fence: 'tool_code', hasLines: true, isPrinted: true }, // Gemma 3
  { open: '', close: '' },
]

const nameHere = /[A-Za-z_][A-Za-z0-9_.-]{0,255}/y
const inList = /\[\s{0,64}[A-Za-z_][A-Za-z0-9_.-]{0,255}\(/y
const inLine = /(?:print\(\s{0,64})?[A-Za-z_][A-Za-z0-9_.-]{0,255}\(/y
/** JSON in these marks is of another dialect (marked-json.ts). */
const jsonHere = /\[\s{0,64}\{|\{/y

export const pythonic: Dialect = {
  name: 'pythonic',
  read(text, fence) {
    const frame = frames.find(
      (one) => text.startsWith(one.open) && (one.fence === undefined || one.fence === fence),
    )
    if (frame === undefined) return undefined
    const cursor = { text, at: frame.open.length }
    const marked = frame.open !== ''
    skipBlanks(cursor)
    const isList = skipMatch({ ...cursor }, inList) !== undefined
    const isCalls = isList || (frame.hasLines && skipMatch({ ...cursor }, inLine) !== undefined)
    const isOnlyPython = marked && !frame.hasLines && !skipMatch({ ...cursor }, jsonHere)
    if (!isCalls && !isOnlyPython) return undefined
    const calls: WrittenCall[] = []
    const names: string[] = []
    const repairs = new Set<Repair>()
    const readOne = () =>
      readNamed(cursor, { names, repairs, mayBePrinted: frame.isPrinted ?? false })
    const hasBrackets = isList || !frame.hasLines
    const isWhole =
      (hasBrackets ? readList : readLines)(cursor, calls, readOne) &&
      (skipMark(cursor, frame.close) || frame.isOptional === true)
    if (!isWhole)
      return broken(names, { marked, isOpen: !marked && !text.endsWith(hasBrackets ? ')]' : ')') })
    return isOver(cursor) ? { kind: 'calls', calls, repairs, marked } : undefined
  },
}

/** Without a mark around it, calls that continue unlike calls are none, unless they were cut. */
function broken(names: string[], frame: { marked: boolean; isOpen: boolean }): Reading {
  const why = 'a call in this form must have a name for each argument and literals as values'
  return { kind: 'broken', names, why, ...frame }
}

type ReadOne = () => WrittenCall | undefined

/** A comma may follow the last call, as in any list of Python. */
function readList(cursor: Cursor, calls: WrittenCall[], readOne: ReadOne): boolean {
  if (!skipMark(cursor, '[')) return false
  do {
    skipBlanks(cursor)
    if (calls.length > 0 && cursor.text[cursor.at] === ']') break
    const call = readOne()
    if (call === undefined) return false
    calls.push(call)
    skipBlanks(cursor)
  } while (skipMark(cursor, ','))
  const isEnded = skipMark(cursor, ']')
  skipBlanks(cursor)
  return isEnded
}

const sameLine = /[ \t\r]{0,64}/y

/** One call in each line. */
function readLines(cursor: Cursor, calls: WrittenCall[], readOne: ReadOne): boolean {
  do {
    skipBlanks(cursor)
    if (calls.length > 0 && skipMatch({ ...cursor }, inLine) === undefined) return true
    const call = readOne()
    if (call === undefined) return false
    calls.push(call)
    skipMatch(cursor, sameLine)
  } while (cursor.text[cursor.at] === '\n')
  return true
}

const printed = /print\(\s{0,64}(?=[A-Za-z_][A-Za-z0-9_.-]{0,255}\()/y
const api = 'default_api.'

/** A call, with its name in `names` as soon as it is visible. */
type Found = { names: string[]; repairs: Set<Repair>; mayBePrinted: boolean }

function readNamed(
  cursor: Cursor,
  { names, repairs, mayBePrinted }: Found,
): WrittenCall | undefined {
  const isPrinted = mayBePrinted && skipMatch(cursor, printed) !== undefined
  if (mayBePrinted) skipMark(cursor, api)
  const [name] = skipMatch({ ...cursor }, nameHere) ?? []
  if (name !== undefined) names.push(name)
  const call = readCall(cursor, repairs)
  if (!isPrinted) return call
  skipBlanks(cursor)
  return skipMark(cursor, ')') ? call : undefined
}

function readCall(cursor: Cursor, repairs: Set<Repair>): WrittenCall | undefined {
  const [name] = skipMatch(cursor, nameHere) ?? []
  if (name === undefined || !skipMark(cursor, '(')) return undefined
  const members: string[] = []
  const names = new Set<string>()
  for (skipBlanks(cursor); !skipMark(cursor, ')'); skipBlanks(cursor)) {
    if (members.length > 0 && !skipMark(cursor, ',')) return undefined
    skipBlanks(cursor)
    if (members.length > 0 && skipMark(cursor, ')')) break
    const [key] = skipMatch(cursor, nameHere) ?? []
    skipBlanks(cursor)
    const value =
      key !== undefined && skipMark(cursor, '=') ? valueAfterBlanks(cursor, repairs) : undefined
    if (key === undefined || value === undefined || names.has(key)) return undefined
    names.add(key)
    members.push(`${JSON.stringify(key)}:${value}`)
  }
  return { names: [name], id: '', arguments: { kind: 'json', json: `{${members.join(',')}}` } }
}

function valueAfterBlanks(cursor: Cursor, repairs: Set<Repair>): string | undefined {
  skipBlanks(cursor)
  return pythonLiteral(cursor, repairs)
}
