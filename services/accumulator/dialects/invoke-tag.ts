// Tags with a name attribute: <invoke name="tool"><parameter name="key">value</parameter></invoke>.
// The outer tag differs by family: MiniMax, DeepSeek since V3.2, older Claude models. DeepSeek's
// tags have an extra mark and may state whether a value is a string.

import { type Cursor, isOver, skipBlanks, skipMark, skipMatch, upToClose } from './cursor.ts'
import type { Dialect, WrittenArguments, WrittenCall, WrittenField } from './dialect.ts'
import { withoutOneLineEnd } from './typed-fields.ts'
import { type Repair, readJson } from './written-json.ts'

/** `outer`: the tag around all calls. `mark`: the text before the names of the inner tags. */
type Tags = { outer: string; mark: string }

const families: Tags[] = [
  { outer: 'minimax:tool_call', mark: '' },
  { outer: '｜DSML｜function_calls', mark: '｜DSML｜' },
  { outer: '｜DSML｜tool_calls', mark: '｜DSML｜' },
  { outer: 'function_calls', mark: '' },
]

const nameHere = /[ ]{1,8}name="([^"<>]{1,256})"/y
const isStringHere = /[ ]{1,8}string="(true|false)"/y
const tagEndHere = /[ ]{0,8}>/y

export const invokeTag: Dialect = {
  name: 'invoke-tag',
  read(text) {
    const tags = families.find(({ outer }) => text.startsWith(`<${outer}>`))
    if (tags === undefined) return undefined
    const repairs = new Set<Repair>()
    const calls = readCalls({ text, at: 0 }, tags, repairs)
    if (calls === 'text') return undefined
    if (calls !== undefined) return { kind: 'calls', calls, repairs, marked: true }
    const why = `'<${tags.outer}>' must hold calls in the tag '${tags.mark}invoke', each with its parameters, all of them closed, and nothing else`
    return { kind: 'broken', names: [], why, marked: true }
  },
}

/** `text`: text follows the calls, so the whole is not calls. */
function readCalls(
  cursor: Cursor,
  tags: Tags,
  repairs: Set<Repair>,
): WrittenCall[] | 'text' | undefined {
  const calls: WrittenCall[] = []
  for (; !isOver(cursor); skipBlanks(cursor)) {
    if (!skipMark(cursor, `<${tags.outer}>`)) return 'text'
    for (skipBlanks(cursor); !skipMark(cursor, `</${tags.outer}>`); skipBlanks(cursor)) {
      const call = readCall(cursor, tags, repairs)
      if (call === undefined) return undefined
      calls.push(call)
    }
  }
  return calls.length > 0 ? calls : undefined
}

function readCall(cursor: Cursor, { mark }: Tags, repairs: Set<Repair>): WrittenCall | undefined {
  if (!skipMark(cursor, `<${mark}invoke`)) return undefined
  const [, name] = skipMatch(cursor, nameHere) ?? []
  if (name === undefined || skipMatch(cursor, tagEndHere) === undefined) return undefined
  skipBlanks(cursor)
  const args =
    cursor.text[cursor.at] === '{' ? jsonArguments(cursor, repairs) : parameters(cursor, mark)
  skipBlanks(cursor)
  return args === undefined || !skipMark(cursor, `</${mark}invoke>`)
    ? undefined
    : { names: [name], id: '', arguments: args }
}

function jsonArguments(cursor: Cursor, repairs: Set<Repair>): WrittenArguments | undefined {
  const json = readJson(cursor, repairs)
  return json === undefined ? undefined : { kind: 'json', json }
}

function parameters(cursor: Cursor, mark: string): WrittenArguments | undefined {
  const fields: WrittenField[] = []
  for (; skipMark(cursor, `<${mark}parameter`); skipBlanks(cursor)) {
    const [, name] = skipMatch(cursor, nameHere) ?? []
    const [, isString] = skipMatch(cursor, isStringHere) ?? []
    const text =
      skipMatch(cursor, tagEndHere) === undefined
        ? undefined
        : upToClose(cursor, `<${mark}parameter `, `</${mark}parameter>`)
    if (name === undefined || text === undefined) return undefined
    fields.push({
      name,
      text: withoutOneLineEnd(text),
      is: isString === undefined ? undefined : isString === 'true' ? 'string' : 'json',
    })
  }
  return { kind: 'fields', fields }
}
