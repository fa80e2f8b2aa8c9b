// Mistral: [TOOL_CALLS] and then, in its older models, a JSON array of calls; in its newer ones a
// name and its arguments, the mark before each: [TOOL_CALLS]name{…} or
// [TOOL_CALLS]name[CALL_ID]id[ARGS]{…}.

import { type Cursor, isOver, skipBlanks, took, tookMatch } from './cursor.ts'
import type { Dialect, Reading, WrittenCall } from './dialect.ts'
import { framedJson } from './framed-json.ts'
import { type Repair, readJson } from './written-json.ts'

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
    if (!took(cursor, mark)) return undefined // what follows the call is no call, so the text is not all calls
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
  const [name] = tookMatch(cursor, nameHere) ?? []
  if (name === undefined) return undefined
  skipBlanks(cursor)
  const id = took(cursor, '[CALL_ID]') ? tookMatch(cursor, nameHere)?.[0] : ''
  took(cursor, '[ARGS]')
  skipBlanks(cursor)
  const json =
    id === undefined || cursor.text[cursor.at] !== '{' ? undefined : readJson(cursor, repairs)
  return json === undefined
    ? undefined
    : { names: [name], id: id ?? '', arguments: { kind: 'json', json } }
}
