// Kimi K2:
// <|tool_calls_section_begin|><|tool_call_begin|>functions.name:0<|tool_call_argument_begin|>{…}<|tool_call_end|><|tool_calls_section_end|>.
// The text before the arguments is the call's id, which contains the name.

import { type Cursor, skipBlanks, skipMark, upTo } from './cursor.ts'
import type { Dialect, WrittenCall } from './dialect.ts'
import { type Frame, readFrames } from './frame.ts'
import { argumentsHere } from './written-arguments.ts'
import type { Repair } from './written-json.ts'

const callBegin = '<|tool_call_begin|>'

const frame: Frame = {
  section: {
    open: /<\|tool_calls?_section_begin\|>/y,
    close: /<\|tool_calls?_section_end\|>/y,
    missingEnd: "'<|tool_calls_section_end|>' is missing after the calls",
    empty: 'there is no call between the marks',
  },
  bare: 'marked',
  begin: callBegin,
  call: readCall,
  why: 'a call between its marks must be an id, its arguments as a JSON object, and nothing else',
}

export const kimi: Dialect = {
  name: 'kimi',
  read: (text) => readFrames({ text, at: 0 }, [frame]),
}

function readCall(cursor: Cursor, repairs: Set<Repair>): WrittenCall | undefined {
  skipMark(cursor, callBegin)
  const id = upTo(cursor, '<|tool_call_argument_begin|>')?.trim()
  const [, name] =
    /^(?:functions\.)?([^\s<>]{1,256}?)(?::[0-9]{1,9})?$/.exec(id?.slice(0, 512) ?? '') ?? []
  if (id === undefined || name === undefined) return undefined
  skipBlanks(cursor)
  const args = argumentsHere(cursor, repairs)
  skipBlanks(cursor)
  return args === undefined || !skipMark(cursor, '<|tool_call_end|>')
    ? undefined
    : { names: [name], id, arguments: args }
}
