// Qwen3-Coder's tags:
// <tool_call><function=name><parameter=key>value</parameter></function></tool_call>. The outer tag,
// or only its beginning, is often missing. Llama's custom functions put JSON into the same tag:
// <function=name>{…}</function>. Seed-OSS has another outer tag, and writes a value directly
// between its tags (its chat template, llama.cpp models/templates/ByteDance-Seed-OSS.jinja).

import { type Cursor, skipBlanks, skipMark, skipMatch, upToClose } from './cursor.ts'
import type { Dialect, WrittenArguments, WrittenCall } from './dialect.ts'
import { type Frame, readFrames } from './frame.ts'
import { type Repair, readJson } from './written-json.ts'

/** `hasLines`: the template puts each value on separate lines. */
const outerTags = [
  { tag: 'tool_call', hasLines: true },
  { tag: 'seed:tool_call', hasLines: false },
]
const nameHere = /[^<>\s]{1,256}/y

const frame: Frame = {
  bare: 'marked',
  begin: /(?:<(?:tool_call|seed:tool_call)>\s{0,64})?<function=(?:([^<>\s]{1,256})>)?/y,
  call: readCall,
  why: "a call in the tag 'function' must hold its parameters, each in a tag of its own that is closed, and nothing else",
}

export const functionTag: Dialect = {
  name: 'function-tag',
  read: (text) => readFrames({ text, at: 0 }, [frame]),
}

function readCall(cursor: Cursor, repairs: Set<Repair>): WrittenCall | undefined {
  const outer = outerTags.find(({ tag }) => skipMark(cursor, `<${tag}>`))
  skipBlanks(cursor)
  if (!skipMark(cursor, '<function=')) return undefined
  const [name] = skipMatch(cursor, nameHere) ?? []
  if (name === undefined || !skipMark(cursor, '>')) return undefined
  skipBlanks(cursor)
  const args =
    cursor.text[cursor.at] === '{'
      ? jsonArguments(cursor, repairs)
      : parameters(cursor, outer?.hasLines ?? true)
  skipBlanks(cursor)
  if (args === undefined || !skipMark(cursor, '</function>')) return undefined
  skipBlanks(cursor)
  const isClosed = outerTags.some(
    ({ tag }) => (outer === undefined || outer.tag === tag) && skipMark(cursor, `</${tag}>`),
  )
  return outer !== undefined && !isClosed ? undefined : { names: [name], id: '', arguments: args }
}

function jsonArguments(cursor: Cursor, repairs: Set<Repair>): WrittenArguments | undefined {
  const json = readJson(cursor, repairs)
  return json === undefined ? undefined : { kind: 'json', json }
}

function parameters(cursor: Cursor, hasLines: boolean): WrittenArguments | undefined {
  const args: WrittenArguments = { kind: 'fields', fields: [] }
  for (; skipMark(cursor, '<parameter='); skipBlanks(cursor)) {
    const [name] = skipMatch(cursor, nameHere) ?? []
    const text =
      name !== undefined && skipMark(cursor, '>')
        ? upToClose(cursor, '<parameter=', '</parameter>')
        : undefined
    if (name === undefined || text === undefined) return undefined
    args.fields.push({ name, text: hasLines ? withoutItsLines(text) : text, is: undefined })
  }
  return args
}

/**
 * A value that stands on separate lines, without the line ends beside its tags. One line end alone
 * is not the template's and belongs to the value.
 */
function withoutItsLines(text: string): string {
  const [open] = /^\r?\n/.exec(text) ?? []
  const [close] = /\r?\n$/.exec(text.slice(-2)) ?? []
  return open === undefined || close === undefined || text.length < open.length + close.length
    ? text
    : text.slice(open.length, -close.length)
}
