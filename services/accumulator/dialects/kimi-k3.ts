// Kimi K3's channels: <|open|>tools<|sep|>, for each call <|open|>call tool="name" index="1"<|sep|>
// with <|open|>argument key="key" type="string"<|sep|>text<|close|>argument<|sep|> for each
// argument, or one JSON object in a tag json (llama.cpp models/templates/Kimi-K3.jinja, SGLang
// function_call/kimik3_detector.py). A channel for the user may precede it. Texts have no escapes
// and cannot contain the marks. Attributes are escaped like in XML.

import { type Cursor, skipBlanks, skipMark, skipMatch, upTo } from './cursor.ts'
import type { Dialect, WrittenArguments, WrittenCall, WrittenField } from './dialect.ts'
import { type Frame, readFrames } from './frame.ts'
import { type Repair, readJson } from './written-json.ts'

const callHead =
  /<\|open\|>call {1,8}tool="([^"<>]{1,256})"(?: {1,8}index="[0-9]{1,9}")? {0,8}<\|sep\|>/y
const argumentHead =
  /<\|open\|>argument {1,8}key="([^"<>]{1,256})"(?: {1,8}type="([a-z]{1,16})") {0,8}<\|sep\|>/y
const jsonHead = /<\|open\|>json(?: {1,8}type="object")? {0,8}<\|sep\|>/y
const closed = (tag: string) => `<|close|>${tag}<|sep|>`
const mark = /<\|(?:open|close|sep)\|>/

const frame: Frame = {
  section: { open: '<|open|>tools<|sep|>', close: closed('tools') },
  begin: '<|open|>call',
  call: readCall,
  why: "'<|open|>tools<|sep|>' must hold calls, each with its arguments, all of them closed, and nothing else",
}

export const kimiK3: Dialect = {
  name: 'kimi-k3',
  read(text) {
    const cursor = { text, at: 0 }
    const said = skipMark(cursor, '<|open|>response<|sep|>')
      ? markless(upTo(cursor, closed('response')))
      : ''
    skipBlanks(cursor)
    const reading = said === undefined ? undefined : readFrames(cursor, [frame])
    return reading?.kind === 'calls' ? { ...reading, preamble: said?.trim() ?? '' } : reading
  },
}

function readCall(cursor: Cursor, repairs: Set<Repair>): WrittenCall | undefined {
  const [, tool] = skipMatch(cursor, callHead) ?? []
  skipBlanks(cursor)
  const args = skipMatch(cursor, jsonHead) ? jsonHere(cursor, repairs) : argumentsHere(cursor)
  skipBlanks(cursor)
  return tool === undefined || args === undefined || !skipMark(cursor, closed('call'))
    ? undefined
    : { names: [unescaped(tool)], id: '', arguments: args }
}

function jsonHere(cursor: Cursor, repairs: Set<Repair>): WrittenArguments | undefined {
  skipBlanks(cursor)
  const json = cursor.text[cursor.at] === '{' ? readJson(cursor, repairs) : undefined
  skipBlanks(cursor)
  return json === undefined || !skipMark(cursor, closed('json'))
    ? undefined
    : { kind: 'json', json }
}

function argumentsHere(cursor: Cursor): WrittenArguments | undefined {
  const fields: WrittenField[] = []
  for (let head = skipMatch(cursor, argumentHead); head; head = skipMatch(cursor, argumentHead)) {
    const [, key = '', type] = head
    const text = markless(upTo(cursor, closed('argument')))
    if (text === undefined) return undefined
    fields.push({ name: unescaped(key), text, is: type === 'string' ? 'string' : 'json' })
    skipBlanks(cursor)
  }
  return { kind: 'fields', fields }
}

/** A text with a mark inside has lost its end. */
function markless(text: string | undefined): string | undefined {
  return text === undefined || mark.test(text) ? undefined : text
}

function unescaped(attribute: string): string {
  return attribute.replaceAll('&quot;', '"').replaceAll('&amp;', '&')
}
