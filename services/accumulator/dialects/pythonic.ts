// Calls in Python syntax, as Llama 3.2 and 4, LFM2 and Olmo write them: [weather(city="Paris",
// days=3), now()]. Arguments have names, and values are literals of Python (python-literal.ts).

import { type Cursor, isOver, skipBlanks, skipMark, skipMatch } from './cursor.ts'
import type { Dialect, Reading, WrittenCall } from './dialect.ts'
import { pythonLiteral } from './python-literal.ts'
import type { Repair } from './written-json.ts'

const open = '<|tool_call_start|>'
const close = '<|tool_call_end|>'
const nameHere = /[A-Za-z_][A-Za-z0-9_.-]{0,255}/y
const beginning = /\[\s{0,64}[A-Za-z_][A-Za-z0-9_.-]{0,255}\(/y

export const pythonic: Dialect = {
  name: 'pythonic',
  read(text) {
    const cursor = { text, at: 0 }
    const marked = skipMark(cursor, open)
    skipBlanks(cursor)
    if (!marked && skipMatch({ ...cursor }, beginning) === undefined) return undefined
    const calls: WrittenCall[] = []
    const repairs = new Set<Repair>()
    if (!readCalls(cursor, calls, repairs) || (marked && !skipMark(cursor, close)))
      return broken(text, calls, marked)
    return isOver(cursor) ? { kind: 'calls', calls, repairs, marked } : undefined
  },
}

/** Without a mark around it, a list that continues unlike a call is no call, unless it was cut. */
function broken(text: string, calls: WrittenCall[], marked: boolean): Reading {
  const isOpen = !marked && !text.endsWith(')]')
  const [first] = skipMatch({ text, at: marked ? open.length + 1 : 1 }, nameHere) ?? []
  const names = [...(first === undefined ? [] : [first]), ...calls.flatMap((call) => call.names)]
  return {
    kind: 'broken',
    names,
    why: 'a call in this form must have a name for each argument and literals as values',
    marked,
    isOpen,
  }
}

/** A comma may follow the last call, as in any list of Python. */
function readCalls(cursor: Cursor, calls: WrittenCall[], repairs: Set<Repair>): boolean {
  if (!skipMark(cursor, '[')) return false
  do {
    skipBlanks(cursor)
    if (calls.length > 0 && cursor.text[cursor.at] === ']') break
    const call = readCall(cursor, repairs)
    if (call === undefined) return false
    calls.push(call)
    skipBlanks(cursor)
  } while (skipMark(cursor, ','))
  const isEnded = skipMark(cursor, ']')
  skipBlanks(cursor)
  return isEnded
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
