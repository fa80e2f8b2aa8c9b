// MiniMax M3: a mark precedes every tag, ]<]minimax[>[<tool_call>, then <invoke name="tool">, and
// for each argument a tag named after it. Tags in tags are objects, and tags named `item` are lists
// (SGLang function_call/minimax_m3.py). The schema decides which, and the type of each text.
// No text can contain the mark, so nothing is escaped.

import { limits } from '../../../shared/contract/limits.ts'
import { type Cursor, skipBlanks, skipMatch } from './cursor.ts'
import type { Dialect, WrittenCall, WrittenField } from './dialect.ts'
import { type Frame, readFrames } from './frame.ts'

const mark = ']<]minimax[>['
const tag = (pattern: string) => new RegExp(`\\]<\\]minimax\\[>\\[\\s{0,16}${pattern}`, 'y')
const invoke = tag('<invoke {1,8}name="([^"<>]{1,256})" {0,8}>')
const invokeEnd = tag('</invoke>')
const elementHere = tag('<([^<>/"\\s]{1,256})>')
const elementEnd = tag('</([^<>/"\\s]{1,256})>')

const frame: Frame = {
  section: {
    // the model or the server may lose the mark before the first tag
    open: /\]<\]minimax\[>\[\s{0,16}<tool_call>|<tool_call>(?=\s{0,64}\]<\]minimax\[>\[)/y,
    close: tag('</tool_call>'),
  },
  bare: 'marked',
  strayEnd: tag('</tool_call>'),
  begin: invoke,
  call: readCall,
  why: `a call in the tag 'invoke' of MiniMax must hold one closed tag for each argument, with '${mark}' before every tag, and nothing else`,
}

export const minimaxM3: Dialect = {
  name: 'minimax-m3',
  read: (text) => readFrames({ text, at: 0 }, [frame]),
}

function readCall(cursor: Cursor): WrittenCall | undefined {
  const [, name] = skipMatch(cursor, invoke) ?? []
  const fields = elements(cursor, 0)
  return name === undefined || fields === undefined || skipMatch(cursor, invokeEnd) === undefined
    ? undefined
    : { names: [name], id: '', arguments: { kind: 'fields', fields } }
}

/** The elements in sequence from here. Undefined: one of them has no end, or text beside its tags. */
function elements(cursor: Cursor, depth: number): WrittenField[] | undefined {
  const fields: WrittenField[] = []
  if (depth > limits.argumentDepthMax) return undefined
  for (;;) {
    skipBlanks(cursor)
    const [, name] = skipMatch(cursor, elementHere) ?? []
    if (name === undefined) return fields
    const field = inside(cursor, name, depth)
    if (field === undefined) return undefined
    if (skipMatch(cursor, elementEnd)?.[1] !== name) return undefined
    fields.push(field)
  }
}

/** The contents of an element: a text, or elements. */
function inside(cursor: Cursor, name: string, depth: number): WrittenField | undefined {
  const end = cursor.text.indexOf(mark, cursor.at)
  if (end === -1) return undefined
  const text = cursor.text.slice(cursor.at, end)
  cursor.at = end
  if (skipMatch({ ...cursor }, elementHere) === undefined) return { name, text, is: 'element' }
  const parts = text.trim() === '' ? elements(cursor, depth + 1) : undefined
  return parts === undefined ? undefined : { name, text: '', is: 'element', parts }
}
