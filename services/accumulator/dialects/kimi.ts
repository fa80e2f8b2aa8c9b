// Kimi K2:
// <|tool_calls_section_begin|><|tool_call_begin|>functions.name:0<|tool_call_argument_begin|>{…}<|tool_call_end|><|tool_calls_section_end|>.
// The text before the arguments is the call's id, which contains the name.

import { brokenAfter } from './broken-frame.ts'
import { type Cursor, isOver, skipBlanks, skipMark, skipMatch, upTo } from './cursor.ts'
import type { Dialect, Reading, WrittenCall } from './dialect.ts'
import { argumentsHere } from './written-arguments.ts'
import type { Repair } from './written-json.ts'

const sectionBegin = /<\|tool_calls?_section_begin\|>/y
const sectionEnd = /<\|tool_calls?_section_end\|>/y
const callBegin = '<|tool_call_begin|>'

export const kimi: Dialect = {
  name: 'kimi',
  read(text) {
    const cursor = { text, at: 0 }
    const hasSection = skipMatch(cursor, sectionBegin) !== undefined
    return hasSection || text.startsWith(callBegin) ? section(cursor, hasSection) : undefined
  },
}

function section(cursor: Cursor, hasSection: boolean): Reading | undefined {
  const repairs = new Set<Repair>()
  const calls: WrittenCall[] = []
  for (skipBlanks(cursor); skipMark(cursor, callBegin); skipBlanks(cursor)) {
    const call = readCall(cursor, repairs)
    if (call === undefined)
      return brokenAfter(
        calls,
        'a call between its marks must be an id, its arguments as a JSON object, and nothing else',
      )
    calls.push(call)
  }
  const isEnded = !hasSection || skipMatch(cursor, sectionEnd) !== undefined
  if (!isEnded) return brokenAfter(calls, "'<|tool_calls_section_end|>' is missing after the calls")
  if (calls.length === 0) return brokenAfter(calls, 'there is no call between the marks')
  if (!isOver(cursor)) return undefined // text follows the calls, so the whole is not calls
  return { kind: 'calls', calls, repairs, marked: true }
}

function readCall(cursor: Cursor, repairs: Set<Repair>): WrittenCall | undefined {
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
