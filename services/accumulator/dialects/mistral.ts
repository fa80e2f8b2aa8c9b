// Mistral. Older models: [TOOL_CALLS] and a JSON array of calls. Newer models: the mark before each
// name and its arguments, [TOOL_CALLS]name{…} or [TOOL_CALLS]name[CALL_ID]id[ARGS]{…}.

import { type Cursor, skipBlanks, skipMark, skipMatch } from './cursor.ts'
import type { Dialect, WrittenCall } from './dialect.ts'
import { type Frame, readFrames } from './frame.ts'
import { framedJson } from './framed-json.ts'
import { argumentsHere } from './written-arguments.ts'
import type { Repair } from './written-json.ts'

const mark = '[TOOL_CALLS]'
const older = framedJson('mistral', [{ open: mark, close: '' }])
const nameHere = /[A-Za-z0-9_.:/-]{1,256}/y

const newer: Frame = {
  bare: 'marked',
  begin: mark,
  call: readCall,
  why: `'${mark}' must be followed by a tool's name and a JSON object`,
}

export const mistral: Dialect = {
  name: 'mistral',
  read(text) {
    if (!text.startsWith(mark)) return undefined
    const cursor = { text, at: mark.length }
    skipBlanks(cursor)
    return text[cursor.at] === '[' || text[cursor.at] === '{'
      ? older.read(text)
      : readFrames({ text, at: 0 }, [newer])
  },
}

function readCall(cursor: Cursor, repairs: Set<Repair>): WrittenCall | undefined {
  skipMark(cursor, mark)
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
