// DeepSeek V3 and R1: <｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>name, a fence with
// JSON, <｜tool▁call▁end｜><｜tool▁calls▁end｜>. Since V3.1 the name and the JSON stand on both sides
// of the mark, without a fence. Models write the characters of the marks in several ways.

import { brokenAfter } from './broken-frame.ts'
import { type Cursor, isOver, skipBlanks, skipMark, skipMatch, upTo } from './cursor.ts'
import type { Dialect, Reading, WrittenCall } from './dialect.ts'
import { argumentsHere } from './written-arguments.ts'
import type { Repair } from './written-json.ts'

const markOf = (words: string) =>
  new RegExp(`<[｜|]${words.replaceAll(' ', '(?:▁| |\\\\?_)')}[｜|]>`, 'y')
const callsBegin = markOf('tool calls begin')
const callsEnd = markOf('tool calls end')
const callBegin = markOf('tool call begin')
const callEnd = markOf('tool call end')
const separator = markOf('tool sep')
const sentenceEnd = markOf('end of sentence')
const nameHere = /[A-Za-z0-9_.:/-]{1,256}/y

export const deepseek: Dialect = {
  name: 'deepseek',
  read(text) {
    const cursor = { text, at: 0 }
    const hasSection = skipMatch(cursor, callsBegin) !== undefined
    skipBlanks(cursor)
    return hasSection || skipMatch({ ...cursor }, callBegin) !== undefined
      ? section(cursor, hasSection)
      : undefined
  },
}

function section(cursor: Cursor, hasSection: boolean): Reading | undefined {
  const repairs = new Set<Repair>()
  const calls: WrittenCall[] = []
  for (; skipMatch(cursor, callBegin) !== undefined; skipBlanks(cursor)) {
    const call = readCall(cursor, repairs)
    if (call === undefined)
      return brokenAfter(
        calls,
        'a call between its marks must be a name and its arguments as a JSON object',
      )
    calls.push(call)
  }
  if (hasSection && skipMatch(cursor, callsEnd) === undefined)
    return brokenAfter(calls, "'<｜tool▁calls▁end｜>' is missing after the calls")
  skipBlanks(cursor)
  skipMatch(cursor, sentenceEnd)
  if (calls.length === 0) return brokenAfter(calls, 'there is no call between the marks')
  if (!isOver(cursor)) return undefined // text follows the calls, so the whole is not calls
  return { kind: 'calls', calls, repairs, marked: true }
}

function readCall(cursor: Cursor, repairs: Set<Repair>): WrittenCall | undefined {
  skipBlanks(cursor)
  const [first] = skipMatch(cursor, nameHere) ?? []
  skipBlanks(cursor)
  if (first === undefined || skipMatch(cursor, separator) === undefined) return undefined
  skipBlanks(cursor)
  const isOlder = first === 'function' && cursor.text[cursor.at] !== '{'
  const name = isOlder ? skipMatch(cursor, nameHere)?.[0] : first
  skipBlanks(cursor)
  const isFenced = skipMark(cursor, '```')
  if (isFenced && upTo(cursor, '\n') === undefined) return undefined
  skipBlanks(cursor)
  const args = argumentsHere(cursor, repairs)
  skipBlanks(cursor)
  if (isFenced && !skipMark(cursor, '```')) return undefined
  skipBlanks(cursor)
  if (name === undefined || args === undefined || skipMatch(cursor, callEnd) === undefined)
    return undefined
  return { names: [name], id: '', arguments: args }
}
