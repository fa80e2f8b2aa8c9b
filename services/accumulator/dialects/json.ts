// Calls as plain JSON: the whole text is one object, one array of them, or objects one after
// another (I2).

import { type Cursor, isOver, skipBlanks, tookMatch } from './cursor.ts'
import type { Dialect, Reading } from './dialect.ts'
import { readingOf } from './json-shapes.ts'
import { type Repair, readJson } from './written-json.ts'

export const json: Dialect = {
  name: 'json',
  read(text) {
    if (!text.startsWith('{') && !text.startsWith('[')) return undefined
    const repairs = new Set<Repair>()
    const values = readAll({ text, at: 0 }, repairs)
    if (values === 'text') return undefined
    return values === undefined ? unreadable(text) : readingOf(values, repairs, false)
  },
}

/** Llama writes it between calls. Behind the last one it is another language's. */
const separator = /\s{0,64};(?=\s{0,64}[{[])/y

/**
 * `text`: what follows a value is none, so the text is not all JSON. Undefined: it cannot be read.
 */
function readAll(cursor: Cursor, repairs: Set<Repair>): string[] | 'text' | undefined {
  const values: string[] = []
  for (; !isOver(cursor); skipBlanks(cursor)) {
    const found = cursor.text[cursor.at]
    if (found !== '{' && found !== '[') return 'text'
    const value = readJson(cursor, repairs)
    if (value === undefined) return undefined
    values.push(value)
    tookMatch(cursor, separator)
  }
  return values
}

const beginning =
  /\[?\s{0,64}\{\s{0,64}["'](name|tool)["']\s{0,64}:\s{0,64}("[^"\\]{1,256}"|'[^'\\]{1,256}')/y

/**
 * Broken JSON that begins as a call does: a bracket is missing or too many, a quote is not escaped.
 */
function unreadable(text: string): Reading | undefined {
  const cursor = { text, at: 0 }
  const [, key, quoted] = tookMatch(cursor, beginning) ?? []
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

/** What stands behind the name ends before it could say what follows. */
function beginsArguments(rest: string): boolean {
  return rest.length < 64 && ',"arguments"'.startsWith(rest.replace(/\s/g, ''))
}
