// GLM 4.5 and later: <tool_call>name, then <arg_key>key</arg_key><arg_value>value</arg_value> for
// each argument, </tool_call>.

import { type Cursor, isOver, skipBlanks, skipMark, skipMatch, upToClose } from './cursor.ts'
import type { Dialect, WrittenCall, WrittenField } from './dialect.ts'

const beginning = /<tool_call>\s{0,64}[A-Za-z0-9_.:/-]{1,256}\s{0,64}<(?:arg_key>|\/tool_call>)/y
const nameHere = /[A-Za-z0-9_.:/-]{1,256}/y

export const glm: Dialect = {
  name: 'glm',
  read(text) {
    const cursor = { text, at: 0 }
    const calls: WrittenCall[] = []
    for (; !isOver(cursor); skipBlanks(cursor)) {
      // the whole text is not calls
      if (skipMatch({ ...cursor }, beginning) === undefined) return undefined
      const call = readCall(cursor)
      if (call === undefined) {
        const why =
          "a call must be its name and then its arguments, each an 'arg_key' and an 'arg_value' that are closed"
        return { kind: 'broken', names: calls.flatMap(({ names }) => names), why, marked: true }
      }
      calls.push(call)
    }
    return { kind: 'calls', calls, repairs: new Set(), marked: true }
  },
}

function readCall(cursor: Cursor): WrittenCall | undefined {
  if (!skipMark(cursor, '<tool_call>')) return undefined
  skipBlanks(cursor)
  const [name] = skipMatch(cursor, nameHere) ?? []
  const fields: WrittenField[] = []
  for (skipBlanks(cursor); skipMark(cursor, '<arg_key>'); skipBlanks(cursor)) {
    const key = upToClose(cursor, '<arg_', '</arg_key>')?.trim()
    skipBlanks(cursor)
    const text = skipMark(cursor, '<arg_value>')
      ? upToClose(cursor, '<arg_', '</arg_value>')
      : undefined
    if (key === undefined || key === '' || text === undefined) return undefined
    fields.push({ name: key, text, is: undefined })
  }
  return name === undefined || !skipMark(cursor, '</tool_call>')
    ? undefined
    : { names: [name], id: '', arguments: { kind: 'fields', fields } }
}
