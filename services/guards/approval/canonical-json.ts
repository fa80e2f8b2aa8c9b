// JSON in one form (RFC 8785), so that the same arguments have the same hash whoever computes it.

import { createHash } from 'node:crypto'
import type { JsonValue } from '../../../shared/guard.ts'

/** Members by the UTF-16 units of their names, no blanks, numbers as ECMAScript writes them. Throws a RangeError for what is not I-JSON. */
export function canonicalJson(value: JsonValue): string {
  if (typeof value === 'number' && !Number.isFinite(value)) throw new RangeError(`${value} is no JSON number`)
  if (typeof value === 'string') return textOf(value)
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(',')}]`
  const members = Object.keys(value).sort((one, other) => (one < other ? -1 : 1))
  return `{${members.map((name) => `${textOf(name)}:${canonicalJson(value[name] as JsonValue)}`).join(',')}}`
}

/** Two texts with different lone surrogates would be the same bytes. */
function textOf(text: string): string {
  if (!text.isWellFormed()) throw new RangeError('a text has half of a surrogate pair')
  return JSON.stringify(text)
}

export function sha256Of(value: JsonValue): string {
  return createHash('sha256').update(canonicalJson(value)).digest('hex')
}
