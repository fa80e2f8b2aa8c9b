// Arguments in tags: one tag, or a pair of them, for each key, or elements that are named after their
// keys.
// The templates write a value directly between its tags: every character belongs to
// it. MiniCPM's tags are XML, so an entity outside CDATA has two readings and is refused.

import { limits } from '../../../../shared/contract/limits.ts'
import type { WrittenField } from '../dialect.ts'
import { type Cursor, type Mark, skip, skipBlanks, skipMatch, upTo } from '../readers/cursor.ts'
import { type ReadArguments, unescaped } from './calls.ts'
import { jsonHere } from './json-arguments.ts'

/**
 * `field`: the tags before a value. Its group `key` is the name. Its groups `string` and `json` state
 * the type of the value. `end`: the tag after a value. `never`: a text that no value contains, because a
 * tag in it is damaged or has no end.
 */
type FieldTags = {
  field: RegExp
  end: string
  never: RegExp
  /** The keys are escaped attributes. */
  isEscaped?: true
  /** The marks of one JSON object that may stand in place of the tags. */
  orJson?: { open: RegExp; close: Mark }
  /** Values may be CDATA. */
  hasData?: boolean
  /** Values may stand on separate lines. */
  hasLines?: boolean
}

export function fields(tags: FieldTags): ReadArguments {
  return (cursor, repairs) => {
    if (tags.orJson && skip(cursor, tags.orJson.open)) {
      const json = jsonHere(cursor, repairs)
      return skip(cursor, tags.orJson.close) ? json : undefined
    }
    const read: WrittenField[] = []
    for (let head = skipMatch(cursor, tags.field); head; head = skipMatch(cursor, tags.field)) {
      const { key = '', string, json } = head.groups ?? {}
      const text = value(cursor, tags)
      if (text === undefined) return undefined
      const name = tags.isEscaped ? unescaped(key) : key
      const stated = json === undefined ? undefined : 'json'
      read.push({ name, text, is: string === undefined ? stated : 'string' })
      skipBlanks(cursor)
    }
    return { kind: 'fields', fields: read }
  }
}

function value(cursor: Cursor, { end, never, hasData, hasLines }: FieldTags): string | undefined {
  if (hasData && skip(cursor, '<![CDATA[')) return upTo(cursor, `]]>${end}`, /\]\]>/)
  const text = upTo(cursor, end, never)
  return hasLines && text !== undefined ? withoutItsLines(text) : text
}

/**
 * A value that stands on separate lines, without the line ends next to its tags. One line end alone
 * is not the template's and belongs to the value.
 */
function withoutItsLines(text: string): string {
  const [open] = /^\r?\n/.exec(text) ?? []
  const [close] = /\r?\n$/.exec(text.slice(-2)) ?? []
  return open === undefined || close === undefined || text.length < open.length + close.length
    ? text
    : text.slice(open.length, -close.length)
}

/**
 * MiniMax M3: `mark` precedes every tag and no value contains it. Tags in tags are objects, and tags
 * named `item` are lists. The schema decides which, and the type of each text.
 */
export function elements(mark: string, open: RegExp, close: RegExp): ReadArguments {
  /** The elements in sequence. Undefined: one of them has no end, or text next to its tags. */
  function sequence(cursor: Cursor, depth: number): WrittenField[] | undefined {
    const read: WrittenField[] = []
    for (skipBlanks(cursor); ; skipBlanks(cursor)) {
      const [, name] = skipMatch(cursor, open) ?? []
      if (name === undefined) return read
      const text = upTo({ ...cursor }, mark)
      cursor.at += text?.length ?? 0
      const hasParts = text !== undefined && skip({ ...cursor }, open)
      const mayHaveParts = text?.trim() === '' && depth < limits.argumentDepthMax
      const parts = hasParts && mayHaveParts ? sequence(cursor, depth + 1) : undefined
      if (text === undefined || hasParts !== (parts !== undefined)) return undefined
      if (skipMatch(cursor, close)?.[1] !== name) return undefined
      read.push(parts ? { name, text: '', is: 'element', parts } : { name, text, is: 'element' })
    }
  }
  return (cursor) => {
    const read = sequence(cursor, 0)
    return read && { kind: 'fields', fields: read }
  }
}
