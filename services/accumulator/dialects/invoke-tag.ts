// Tags that name what they hold by an attribute: <invoke name="tool"><parameter
// name="key">value</parameter></invoke>, in an outer tag that differs by family: MiniMax, DeepSeek
// since V3.2 (whose tags have a mark of their own, and may say whether a value is a string),
// Claude's older ones.

import { type Cursor, isOver, skipBlanks, took, tookMatch, upToClose } from './cursor.ts'
import type { Dialect, WrittenArguments, WrittenCall, WrittenField } from './dialect.ts'
import { withoutOneLineEnd } from './typed-fields.ts'
import { type Repair, readJson } from './written-json.ts'

/** `outer`: the tag around all calls; `mark`: what stands before the names of the tags inside. */
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

/** `text`: what follows the calls is none, so the text is not all calls. */
function readCalls(
  cursor: Cursor,
  tags: Tags,
  repairs: Set<Repair>,
): WrittenCall[] | 'text' | undefined {
  const calls: WrittenCall[] = []
  for (; !isOver(cursor); skipBlanks(cursor)) {
    if (!took(cursor, `<${tags.outer}>`)) return 'text'
    for (skipBlanks(cursor); !took(cursor, `</${tags.outer}>`); skipBlanks(cursor)) {
      const call = readCall(cursor, tags, repairs)
      if (call === undefined) return undefined
      calls.push(call)
    }
  }
  return calls.length > 0 ? calls : undefined
}

function readCall(cursor: Cursor, { mark }: Tags, repairs: Set<Repair>): WrittenCall | undefined {
  if (!took(cursor, `<${mark}invoke`)) return undefined
  const [, name] = tookMatch(cursor, nameHere) ?? []
  if (name === undefined || tookMatch(cursor, tagEndHere) === undefined) return undefined
  skipBlanks(cursor)
  const args =
    cursor.text[cursor.at] === '{' ? jsonArguments(cursor, repairs) : parameters(cursor, mark)
  skipBlanks(cursor)
  return args === undefined || !took(cursor, `</${mark}invoke>`)
    ? undefined
    : { names: [name], id: '', arguments: args }
}

function jsonArguments(cursor: Cursor, repairs: Set<Repair>): WrittenArguments | undefined {
  const json = readJson(cursor, repairs)
  return json === undefined ? undefined : { kind: 'json', json }
}

function parameters(cursor: Cursor, mark: string): WrittenArguments | undefined {
  const fields: WrittenField[] = []
  for (; took(cursor, `<${mark}parameter`); skipBlanks(cursor)) {
    const [, name] = tookMatch(cursor, nameHere) ?? []
    const [, isString] = tookMatch(cursor, isStringHere) ?? []
    const text =
      tookMatch(cursor, tagEndHere) === undefined
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
