// Tags with a name attribute: <invoke name="tool"><parameter name="key">value</parameter></invoke>.
// The outer tag differs by family and may be missing: MiniMax M2, DeepSeek since V3.2, older Claude
// models. DeepSeek's tags (DSML) have an extra mark in several spellings, and may state whether a
// value is a string (SGLang function_call/deepseekv32_detector.py; issue 40236 there, vLLM pull
// request 55954). MiniCPM 5 has <function name="tool"><param name="key">, with CDATA (vLLM
// tool_parsers/minicpm5xml_tool_parser.py).
// INVOKE-TAG-1. The templates write a value directly between its tags: every character belongs to
//     it. MiniCPM's tags are XML, so an entity outside CDATA has two readings and is refused.

import { type Cursor, skipBlanks, skipMark, skipMatch, upToClose } from './cursor.ts'
import type { Dialect, WrittenArguments, WrittenCall, WrittenField } from './dialect.ts'
import { type Frame, readFrames } from './frame.ts'
import { type Repair, readJson } from './written-json.ts'

/**
 * The names of the inner tags. `mark`: the part of them that no value contains. A value with it
 * contains a damaged tag. `isXml`: values may be CDATA.
 */
type Tags = { call: string; parameter: string; mark?: string; isXml?: true }

const invoke: Tags = { call: 'invoke', parameter: 'parameter' }
const minicpm: Tags = { call: 'function', parameter: 'param', isXml: true }
const dsmlMarks = ['｜', '|', '｜｜', '||'].map((bars) => `${bars}DSML${bars}`)

const frames: Frame[] = [
  section('minimax:tool_call', invoke),
  section('function_calls', invoke),
  ...dsmlMarks.flatMap((mark) => {
    const tags = { call: `${mark}invoke`, parameter: `${mark}parameter`, mark }
    const outer = ['function_calls', 'tool_calls'].map((name) => mark + name)
    return [...outer.map((name) => section(name, tags)), bare(tags, 'marked', outer)]
  }),
  bare(invoke, 'plain', ['function_calls', 'minimax:tool_call', 'tool_calls']),
  bare(minicpm, 'plain', []),
]

export const invokeTag: Dialect = {
  name: 'invoke-tag',
  read: (text) => (text.startsWith('<') ? readFrames({ text, at: 0 }, frames) : undefined),
}

function section(outer: string, tags: Tags): Frame {
  return {
    section: { open: `<${outer}>`, close: `</${outer}>` },
    begin: `<${tags.call}`,
    call: namedTags(tags),
    why: `'<${outer}>' must hold calls in the tag '${tags.call}', each with its parameters, all of them closed, and nothing else`,
  }
}

/**
 * Calls without a section. The look behind their tag separates them from other texts in XML, also
 * if they were cut there. MiniCPM's tags occur in many declarations, whose parameters have more
 * attributes.
 */
function bare(tags: Tags, kind: 'marked' | 'plain', outer: string[]): Frame {
  const name = '{0,8}name="([^"<>]{1,256})" {0,8}>'
  const parameter = `<${escaped(tags.parameter)}${tags.isXml ? ` ${name}` : '[ >]'}`
  const after = `\\s{0,64}(?:${parameter}|\\{|</${escaped(tags.call)}>|(?:<[^>]{0,300})?$)`
  return {
    bare: kind,
    begin: new RegExp(`<${escaped(tags.call)} ${name}(?=${after})`, 'y'),
    call: namedTags(tags),
    strayEnd: new RegExp(
      outer.length === 0 ? '(?!)' : `</(?:${outer.map(escaped).join('|')})>`,
      'y',
    ),
    why: `a call in the tag '${tags.call}' must hold its parameters, each in a tag of its own that is closed, and nothing else`,
  }
}

function escaped(tag: string): string {
  return tag.replaceAll('|', '\\|')
}

/** MiniCPM's tokens may lose the blank before the name. */
const nameHere = / {0,8}name="([^"<>]{1,256})"/y
const isStringHere = / {1,8}string="(true|false)"/y
const tagEndHere = / {0,8}>/y

/** Reads one call in these tags, with its parameters or one JSON object. */
export function namedTags(tags: Tags): Frame['call'] {
  return (cursor, repairs) => {
    if (!skipMark(cursor, `<${tags.call}`)) return undefined
    const [, name] = skipMatch(cursor, nameHere) ?? []
    if (name === undefined || skipMatch(cursor, tagEndHere) === undefined) return undefined
    skipBlanks(cursor)
    const args =
      cursor.text[cursor.at] === '{' ? jsonArguments(cursor, repairs) : parameters(cursor, tags)
    skipBlanks(cursor)
    if (args === undefined || !skipMark(cursor, `</${tags.call}>`)) return undefined
    return { names: [name], id: '', arguments: args } satisfies WrittenCall
  }
}

function jsonArguments(cursor: Cursor, repairs: Set<Repair>): WrittenArguments | undefined {
  const json = readJson(cursor, repairs)
  return json === undefined ? undefined : { kind: 'json', json }
}

function parameters(cursor: Cursor, tags: Tags): WrittenArguments | undefined {
  const fields: WrittenField[] = []
  for (; skipMark(cursor, `<${tags.parameter}`); skipBlanks(cursor)) {
    const [, name] = skipMatch(cursor, nameHere) ?? []
    const [, isString] = skipMatch(cursor, isStringHere) ?? []
    const text = skipMatch(cursor, tagEndHere) === undefined ? undefined : value(cursor, tags)
    if (name === undefined || text === undefined) return undefined
    fields.push({
      name,
      text,
      is: isString === undefined ? undefined : isString === 'true' ? 'string' : 'json',
    })
  }
  return { kind: 'fields', fields }
}

const markup = /&#?\w{1,32};|<!\[CDATA\[|\]\]>/

function value(cursor: Cursor, { parameter, mark = '', isXml }: Tags): string | undefined {
  const close = `</${parameter}>`
  if (isXml && skipMark(cursor, '<![CDATA[')) return upToClose(cursor, ']]>', `]]>${close}`)
  const text = upToClose(cursor, `<${parameter} `, close)
  const isUnclear =
    text === undefined ||
    text.includes(`<${parameter}name=`) ||
    (isXml && markup.test(text)) ||
    (mark !== '' && text.includes(mark))
  return isUnclear ? undefined : text
}
