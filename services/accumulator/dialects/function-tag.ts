// Qwen3-Coder's tags:
// <tool_call><function=name><parameter=key>value</parameter></function></tool_call>. The outer tag,
// or only its beginning, is often missing. Llama's custom functions put JSON into the same tag:
// <function=name>{…}</function>. Seed-OSS has another outer tag.

import { brokenAfter } from './broken-frame.ts'
import { type Cursor, isOver, skipBlanks, skipMark, skipMatch, upToClose } from './cursor.ts'
import type { Dialect, Reading, WrittenArguments, WrittenCall } from './dialect.ts'
import { withoutOneLineEnd } from './typed-fields.ts'
import { type Repair, readJson } from './written-json.ts'

const outerTags = ['tool_call', 'seed:tool_call']
const beginning = /(?:<(?:tool_call|seed:tool_call)>\s{0,64})?<function=/y
const nameHere = /[^<>\s]{1,256}/y

export const functionTag: Dialect = {
  name: 'function-tag',
  read(text) {
    const cursor = { text, at: 0 }
    const repairs = new Set<Repair>()
    const calls: WrittenCall[] = []
    for (; !isOver(cursor); skipBlanks(cursor)) {
      // the whole text is not calls
      if (skipMatch({ ...cursor }, beginning) === undefined) return undefined
      const call = readCall(cursor, repairs)
      if (call === undefined) return broken(calls)
      calls.push(call)
    }
    return { kind: 'calls', calls, repairs, marked: true }
  },
}

function broken(calls: WrittenCall[]): Reading {
  const why =
    "a call in the tag 'function' must hold its parameters, each in a tag of its own that is closed, and nothing else"
  return brokenAfter(calls, why)
}

function readCall(cursor: Cursor, repairs: Set<Repair>): WrittenCall | undefined {
  const outer = outerTags.find((tag) => skipMark(cursor, `<${tag}>`))
  skipBlanks(cursor)
  if (!skipMark(cursor, '<function=')) return undefined
  const [name] = skipMatch(cursor, nameHere) ?? []
  if (name === undefined || !skipMark(cursor, '>')) return undefined
  skipBlanks(cursor)
  const args = cursor.text[cursor.at] === '{' ? jsonArguments(cursor, repairs) : parameters(cursor)
  skipBlanks(cursor)
  if (args === undefined || !skipMark(cursor, '</function>')) return undefined
  skipBlanks(cursor)
  const isClosed = outerTags.some(
    (tag) => (outer === undefined || outer === tag) && skipMark(cursor, `</${tag}>`),
  )
  return outer !== undefined && !isClosed ? undefined : { names: [name], id: '', arguments: args }
}

function jsonArguments(cursor: Cursor, repairs: Set<Repair>): WrittenArguments | undefined {
  const json = readJson(cursor, repairs)
  return json === undefined ? undefined : { kind: 'json', json }
}

/** A value stands on its lines alone: the line ends beside its tags do not belong to it. */
function parameters(cursor: Cursor): WrittenArguments | undefined {
  const args: WrittenArguments = { kind: 'fields', fields: [] }
  for (; skipMark(cursor, '<parameter='); skipBlanks(cursor)) {
    const [name] = skipMatch(cursor, nameHere) ?? []
    const text =
      name !== undefined && skipMark(cursor, '>')
        ? upToClose(cursor, '<parameter=', '</parameter>')
        : undefined
    if (name === undefined || text === undefined) return undefined
    args.fields.push({ name, text: withoutOneLineEnd(text), is: undefined })
  }
  return args
}
