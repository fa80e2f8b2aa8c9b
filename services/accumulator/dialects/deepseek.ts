// DeepSeek V3 and R1: <｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>name, a fence with
// JSON, <｜tool▁call▁end｜><｜tool▁calls▁end｜>. Since V3.1 the name and the JSON stand on both sides
// of the mark, without a fence. Models write the characters of the marks in several ways.
// Step 3 has the same marks with underscores, and a tag `steptml:invoke` after the word (SGLang
// function_call/step3_detector.py).

import { type Cursor, skipBlanks, skipMark, skipMatch, upTo } from './cursor.ts'
import type { Dialect, WrittenCall } from './dialect.ts'
import { type Frame, readFrames } from './frame.ts'
import { namedTags } from './invoke-tag.ts'
import { argumentsHere } from './written-arguments.ts'
import type { Repair } from './written-json.ts'

const markOf = (words: string) =>
  new RegExp(`<[｜|]${words.replaceAll(' ', '(?:▁| |\\\\?_)')}[｜|]>`, 'y')
const callBegin = markOf('tool call begin')
const callEnd = markOf('tool call end')
const separator = markOf('tool sep')
const nameHere = /[A-Za-z0-9_.:/-]{1,256}/y
const steptml = namedTags({
  call: 'steptml:invoke',
  parameter: 'steptml:parameter',
  mark: 'steptml:',
})

const frame: Frame = {
  section: {
    open: markOf('tool calls begin'),
    close: markOf('tool calls end'),
    missingEnd: "'<｜tool▁calls▁end｜>' is missing after the calls",
    empty: 'there is no call between the marks',
  },
  bare: 'marked',
  begin: callBegin,
  call: readCall,
  why: 'a call between its marks must be a name and its arguments as a JSON object',
}

export const deepseek: Dialect = {
  name: 'deepseek',
  read: (text) => readFrames({ text, at: 0 }, [frame]),
}

function readCall(cursor: Cursor, repairs: Set<Repair>): WrittenCall | undefined {
  skipMatch(cursor, callBegin)
  skipBlanks(cursor)
  const [first] = skipMatch(cursor, nameHere) ?? []
  skipBlanks(cursor)
  if (first === undefined || skipMatch(cursor, separator) === undefined) return undefined
  skipBlanks(cursor)
  const isTagged = first === 'function' && cursor.text.startsWith('<steptml:invoke', cursor.at)
  const call = isTagged ? steptml(cursor, repairs) : jsonCall(cursor, first, repairs)
  skipBlanks(cursor)
  return call === undefined || skipMatch(cursor, callEnd) === undefined ? undefined : call
}

function jsonCall(cursor: Cursor, first: string, repairs: Set<Repair>): WrittenCall | undefined {
  const isOlder = first === 'function' && cursor.text[cursor.at] !== '{'
  const name = isOlder ? skipMatch(cursor, nameHere)?.[0] : first
  skipBlanks(cursor)
  const isFenced = skipMark(cursor, '```')
  if (isFenced && upTo(cursor, '\n') === undefined) return undefined
  skipBlanks(cursor)
  const args = argumentsHere(cursor, repairs)
  skipBlanks(cursor)
  if (isFenced && !skipMark(cursor, '```')) return undefined
  return name === undefined || args === undefined
    ? undefined
    : { names: [name], id: '', arguments: args }
}
