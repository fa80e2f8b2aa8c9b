// Calls as plain JSON: the whole text is one object, one array of objects, or several objects in
// sequence (I2).

import { type Cursor, isOver, skipBlanks, skipMatch } from './cursor.ts'
import type { Dialect, Reading } from './dialect.ts'
import { objectShape, readingOf } from './json-shapes.ts'
import { type Repair, readJson } from './written-json.ts'

export const json: Dialect = {
  name: 'json',
  read(text) {
    if (!text.startsWith('{') && !text.startsWith('[')) return undefined
    const repairs = new Set<Repair>()
    const values = readAll({ text, at: 0 }, repairs)
    if (values === 'text') return undefined
    return values === undefined
      ? unreadable(text)
      : readingOf(values, { repairs, marked: false, shape: objectShape })
  },
}

/** Llama writes it between calls. After the last call it belongs to another language. */
export const separator = /\s{0,64};(?=\s{0,64}[{[])/y

/** `text`: text follows a value, so the whole is not JSON. Undefined: it cannot be read. */
function readAll(cursor: Cursor, repairs: Set<Repair>): string[] | 'text' | undefined {
  const values: string[] = []
  for (; !isOver(cursor); skipBlanks(cursor)) {
    const found = cursor.text[cursor.at]
    if (found !== '{' && found !== '[') return 'text'
    const value = readJson(cursor, repairs)
    if (value === undefined) return undefined
    values.push(value)
    skipMatch(cursor, separator)
  }
  return values
}

const beginning =
  /\[?\s{0,64}\{\s{0,64}["'](name|tool)["']\s{0,64}:\s{0,64}("[^"\\]{1,256}"|'[^'\\]{1,256}')/y

/**
 * Broken JSON that begins like a call: a bracket is missing or surplus, or a quote is not escaped.
 */
function unreadable(text: string): Reading | undefined {
  const cursor = { text, at: 0 }
  const [, key, quoted] = skipMatch(cursor, beginning) ?? []
  if (quoted === undefined) return undefined
  const isOpen = !text.endsWith('}') && !text.endsWith(']')
  if (
    key === 'name' &&
    !text.includes('arguments') &&
    !(isOpen && beginsArguments(text.slice(cursor.at)))
  )
    return undefined
  return {
    kind: 'broken',
    names: [quoted.slice(1, -1)],
    why: 'it is not valid JSON',
    marked: false,
    isOpen,
  }
}

/**
 * The text ends after the name, before it shows more, or with Llama's word for arguments. A schema
 * has the same word, and members of a schema below it (JSON-SHAPES-4).
 */
function beginsArguments(rest: string): boolean {
  const next = rest.slice(0, 128).replace(/\s/g, '')
  return (
    (rest.length < 64 &&
      [',"arguments"', ',"parameters":{'].some((member) => member.startsWith(next))) ||
    /^,"parameters":\{(?!"(?:type|properties|\$schema)")/.test(next)
  )
}
