// Gemma 4: <|tool_call>call:name{key:<|"|>text<|"|>,other:[1,true]}<tool_call|>, one frame for each
// call. FunctionGemma has other marks. Names are bare. Texts are unescaped between marks that no
// text can contain.

import { limits } from '../../../shared/contract/limits.ts'
import { type Cursor, skipBlanks, skipMark, skipMatch, upTo } from './cursor.ts'
import type { Dialect, WrittenCall } from './dialect.ts'
import { type Frame, readFrames } from './frame.ts'

type Marks = { open: string; close: string; quote: string }

const families: Marks[] = [
  { open: '<|tool_call>', close: '<tool_call|>', quote: '<|"|>' },
  { open: '<start_function_call>', close: '<end_function_call>', quote: '<escape>' },
]
const nameHere = /call:([A-Za-z0-9_.:/-]{1,256}?)(?=\{)/y
const keyHere = /([A-Za-z0-9_.$-]{1,256}):/y
const scalarHere =
  /(?:true|false|null|-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?)(?=[,}\]\s])/y

const frames: Frame[] = families.map((marks) => ({
  bare: 'marked',
  begin: marks.open,
  call: (cursor) => readCall(cursor, marks),
  why: `a call between its marks must be 'call:', a tool's name and its arguments in braces`,
}))

export const gemma: Dialect = {
  name: 'gemma',
  read: (text) => readFrames({ text, at: 0 }, frames),
}

function readCall(cursor: Cursor, marks: Marks): WrittenCall | undefined {
  skipMark(cursor, marks.open)
  const [, name] = skipMatch(cursor, nameHere) ?? []
  const json = name === undefined ? undefined : value(cursor, marks, 0)
  return name === undefined || json === undefined || !skipMark(cursor, marks.close)
    ? undefined
    : { names: [name], id: '', arguments: { kind: 'json', json } }
}

/** The value as JSON text. Undefined if it cannot be read. */
function value(cursor: Cursor, marks: Marks, depth: number): string | undefined {
  skipBlanks(cursor)
  if (depth > limits.argumentDepthMax) return undefined
  if (skipMark(cursor, '{'))
    return sequence(cursor, ['{', '}'], () => member(cursor, marks, depth + 1))
  if (skipMark(cursor, '['))
    return sequence(cursor, ['[', ']'], () => value(cursor, marks, depth + 1))
  if (!skipMark(cursor, marks.quote)) return skipMatch(cursor, scalarHere)?.[0]
  const text = upTo(cursor, marks.quote)
  return text === undefined ? undefined : JSON.stringify(text)
}

function member(cursor: Cursor, marks: Marks, depth: number): string | undefined {
  const [, key] = skipMatch(cursor, keyHere) ?? []
  const json = key === undefined ? undefined : value(cursor, marks, depth)
  return json === undefined ? undefined : `${JSON.stringify(key)}:${json}`
}

/** The cursor is behind the opening bracket. */
function sequence(
  cursor: Cursor,
  [open, close]: [string, string],
  item: () => string | undefined,
): string | undefined {
  const found: string[] = []
  skipBlanks(cursor)
  if (skipMark(cursor, close)) return open + close
  do {
    skipBlanks(cursor)
    const one = item()
    if (one === undefined) return undefined
    found.push(one)
    skipBlanks(cursor)
  } while (skipMark(cursor, ','))
  return skipMark(cursor, close) ? open + found.join(',') + close : undefined
}
