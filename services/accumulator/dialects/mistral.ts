// Mistral. Older models: [TOOL_CALLS] and a JSON array of calls. Newer models: the mark before each
// name and its arguments, [TOOL_CALLS]name{…} or [TOOL_CALLS]name[CALL_ID]id[ARGS]{…}.

import { type Cursor, isOver, skipBlanks, skipMark, skipMatch } from './cursor.ts'
import type { Dialect, Reading, WrittenCall } from './dialect.ts'
import { framedJson } from './framed-json.ts'
import { argumentsHere } from './written-arguments.ts'
import type { Repair } from './written-json.ts'

const mark = '[TOOL_CALLS]'
const older = framedJson('mistral', [{ open: mark, close: '' }])
const nameHere = /[A-Za-z0-9_.:/-]{1,256}/y

export const mistral: Dialect = {
  name: 'mistral',
  read(text) {
    if (!text.startsWith(mark)) return undefined
    const cursor = { text, at: mark.length }
    skipBlanks(cursor)
    return text[cursor.at] === '[' || text[cursor.at] === '{'
      ? older.read(text)
      : newer({ text, at: 0 })
  },
}

function newer(cursor: Cursor): Reading | undefined {
  const repairs = new Set<Repair>()
  const calls: WrittenCall[] = []
  for (; !isOver(cursor); skipBlanks(cursor)) {
    if (!skipMark(cursor, mark)) return undefined // text follows the call, so the whole is not calls
    const call = readCall(cursor, repairs)
    if (call === undefined) {
      const why = `'${mark}' must be followed by a tool's name and a JSON object`
      return { kind: 'broken', names: calls.flatMap(({ names }) => names), why, marked: true }
    }
    calls.push(call)
  }
  return { kind: 'calls', calls, repairs, marked: true }
}

function readCall(cursor: Cursor, repairs: Set<Repair>): WrittenCall | undefined {
  skipBlanks(cursor)
  const [name] = skipMatch(cursor, nameHere) ?? []
  if (name === undefined) return undefined
  skipBlanks(cursor)
  const id = skipMark(cursor, '[CALL_ID]') ? skipMatch(cursor, nameHere)?.[0] : ''
  skipMark(cursor, '[ARGS]')
  skipBlanks(cursor)
  const args = argumentsHere(cursor, repairs)
  return id === undefined || args === undefined ? undefined : { names: [name], id, arguments: args }
}
