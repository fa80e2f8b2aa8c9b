// GLM 4.5 and later: <tool_call>name, then <arg_key>key</arg_key><arg_value>value</arg_value> for
// each argument, </tool_call>. Hy 3 has a tag <tool_calls> around the calls and <tool_sep> after
// the name; its checkpoints may add a suffix to every tag (vLLM tool_parsers/hy_v3_tool_parser.py).

import { type Cursor, skipBlanks, skipMark, skipMatch, upToClose } from './cursor.ts'
import type { Dialect, WrittenCall, WrittenField } from './dialect.ts'
import { type Frame, readFrames } from './frame.ts'

const nameHere = /[A-Za-z0-9_.:/-]{1,256}/y

const frames: Frame[] = ['', ':opensource'].map((suffix) => ({
  section: {
    open: new RegExp(`<tool_calls${suffix}>(?=\\s{0,64}<tool_call${suffix}>)`, 'y'),
    close: `</tool_calls${suffix}>`,
  },
  bare: 'marked',
  begin: new RegExp(
    `<tool_call${suffix}>\\s{0,64}([A-Za-z0-9_.:/-]{1,256})\\s{0,64}<(?:tool_sep|arg_key|/tool_call)${suffix}>`,
    'y',
  ),
  call: (cursor) => readCall(cursor, suffix),
  why: "a call must be its name and then its arguments, each an 'arg_key' and an 'arg_value' that are closed",
}))

export const glm: Dialect = {
  name: 'glm',
  read: (text) => readFrames({ text, at: 0 }, frames),
}

function readCall(cursor: Cursor, suffix: string): WrittenCall | undefined {
  const tag = (name: string) => `<${name}${suffix}>`
  skipMark(cursor, tag('tool_call'))
  skipBlanks(cursor)
  const [name] = skipMatch(cursor, nameHere) ?? []
  skipBlanks(cursor)
  skipMark(cursor, tag('tool_sep'))
  const fields: WrittenField[] = []
  for (skipBlanks(cursor); skipMark(cursor, tag('arg_key')); skipBlanks(cursor)) {
    const key = upToClose(cursor, '<arg_', tag('/arg_key'))?.trim()
    skipBlanks(cursor)
    const text = skipMark(cursor, tag('arg_value'))
      ? upToClose(cursor, '<arg_', tag('/arg_value'))
      : undefined
    if (key === undefined || key === '' || text === undefined) return undefined
    fields.push({ name: key, text, is: undefined })
  }
  return name === undefined || !skipMark(cursor, tag('/tool_call'))
    ? undefined
    : { names: [name], id: '', arguments: { kind: 'fields', fields } }
}
