// JSON that holds the names and the arguments of calls: plain, as the whole text, or between marks
// that are used only for calls.

import type { Grammar, Reading } from '../dialect.ts'
import { type Cursor, isAt, isOver, skip, skipBlanks, skipMatch } from '../readers/cursor.ts'
import { type Repair, readJson } from '../readers/written-json.ts'
import { type OwnShape, readingOf } from './json-shapes.ts'

/**
 * `isOptional`: the closing mark may be missing, as JSON has an end. `first`: how the JSON begins,
 * required if texts or other frames begin with `open` too. `shape`: a shape of calls next to those of
 * plain JSON.
 */
type Options = { isOptional?: true; first?: RegExp; shape?: OwnShape }
type JsonMarks = Options & { open: string; close: string }

/**
 * Frames in sequence. `open` empty: plain values in sequence. `close` empty: the frame ends with its
 * JSON.
 */
export function json(open: string, close = '', options: Options = {}): Grammar {
  const first = open === '' ? plainFirst : options.first
  return (text) =>
    text.startsWith(open) && (first === undefined || isAt({ text, at: open.length }, first))
      ? () => readFrames({ text, at: 0 }, { open, close, ...options })
      : undefined
}

function readFrames(cursor: Cursor, marks: JsonMarks): Reading | undefined {
  const { open, close, isOptional, shape } = marks
  const marked = open !== ''
  const repairs = new Set<Repair>()
  const values: string[] = []
  const broken = (why: string): Reading | undefined =>
    marked ? { kind: 'broken', names: [], why, marked } : brokenPlain(cursor.text)
  do {
    // Text follows the calls, so the whole is not calls.
    if (!skip(cursor, open) || (!marked && !isAt(cursor, plainFirst))) return undefined
    const inside = valuesIn(cursor, close, repairs)
    if (inside === undefined) return broken(`what stands after '${open}' is not valid JSON`)
    if (!skip(cursor, close) && !isOptional) return broken(`'${close}' is missing after the JSON`)
    values.push(...inside)
    skipBlanks(cursor)
  } while (!isOver(cursor))
  const reading = readingOf(values, { repairs, marked, ...(shape && { shape }) })
  return reading ?? (marked ? broken(`what stands after '${open}' is no call`) : undefined)
}

const plainFirst = /[{[]/y
const comma = /\s{0,64},(?=\s{0,64}\{)/y
/** Llama writes it between calls. After the last call it belongs to another language. */
const semicolon = /\s{0,64};(?=\s{0,64}[{[])/y

/** Reads at least one value. Before a closing mark there may be several objects. */
function valuesIn(cursor: Cursor, close: string, repairs: Set<Repair>): string[] | undefined {
  const values: string[] = []
  for (let continues = true; continues; ) {
    skipBlanks(cursor)
    const value = readJson(cursor, repairs)
    if (value === undefined) return undefined
    values.push(value)
    const isList = close !== '' && skipMatch(cursor, comma) !== undefined
    continues = isList || skipMatch(cursor, semicolon) !== undefined
    skipBlanks(cursor)
    continues ||= close !== '' && cursor.text[cursor.at] === '{'
  }
  return values
}

const callBegun =
  /\[?\s{0,64}\{\s{0,64}["'](name|tool)["']\s{0,64}:\s{0,64}("[^"\\]{1,256}"|'[^'\\]{1,256}')/y

/**
 * Broken JSON that begins like a call: a bracket is missing or surplus, or a quote is not escaped.
 */
function brokenPlain(text: string): Reading | undefined {
  const cursor = { text, at: 0 }
  const [, key, name] = skipMatch(cursor, callBegun) ?? []
  if (name === undefined) return undefined
  const isOpen = !text.endsWith('}') && !text.endsWith(']')
  const hasArguments =
    text.includes('arguments') || (isOpen && beginsArguments(text.slice(cursor.at)))
  if (key === 'name' && !hasArguments) return undefined
  const names = [name.slice(1, -1)]
  return { kind: 'broken', names, why: 'it is not valid JSON', marked: false, isOpen }
}

/**
 * The text ends after the name, before it shows more, or with Llama's word for arguments. A schema
 * has the same word, and members of a schema below it.
 */
function beginsArguments(rest: string): boolean {
  const next = rest.slice(0, 128).replace(/\s/g, '')
  return (
    (rest.length < 64 &&
      [',"arguments"', ',"parameters":{'].some((member) => member.startsWith(next))) ||
    /^,"parameters":\{(?!"(?:type|properties|\$schema)")/.test(next)
  )
}
