// A JSON text with one reading. Parsers differ in names that an object repeats, and Go's encoding/json
// does not distinguish capitals in names.
// A value keeps the digits of its numbers when JSON.stringify prints it.

import { limits } from '../../contract/limits.ts'
import { nestsDeeper } from '../../lib/json/bounded-json.ts'
import { isObject } from '../../lib/json/json-object.ts'
import { withExactNumbers } from '../../lib/json/raw-numbers.ts'
import { closingQuote, spaceEnd, stringValue, unit } from '../../lib/json/tokens.ts'
import type { Json } from '../format.ts'
import { fault } from './strict.ts'

const { closeBrace, closeBracket, colon, openBrace, openBracket, quote } = unit

/** The names that lead to a call, in all APIs. */
const leading = new Set([
  ...['choices', 'delta', 'message', 'tool_calls', 'function_call', 'function', 'finish_reason'],
  ...['content', 'content_block', 'stop_reason', 'partial_json', 'input'],
  ...['response', 'output', 'item', 'call_id', 'arguments'],
  ...['type', 'id', 'index', 'name'],
])

/** Members with free names inside: arguments, and the parts of a request that answers repeat. */
const opaque = new Set('input arguments args tools parameters schema metadata prompt'.split(' '))

/** The object of a JSON text. Throws a StrictFault if two parsers could read two objects. */
export function strictObject(text: string): Json {
  const value = nestsDeeper(text, limits.jsonDepthMax) ? undefined : withExactNumbers(text)
  if (!isObject(value)) throw fault('it is not a JSON object')
  if (!hasOneReading(text))
    throw fault(
      'an object in it has a name twice, or a name with capitals, which clients read differently',
    )
  return value
}

/**
 * False: an object has a name twice, two names that differ in capitals only, or a name that leads to a
 * call in capitals. Opaque values may have names that differ in capitals. `text` must be JSON. Linear.
 */
export function hasOneReading(text: string): boolean {
  const open: (Set<string> | undefined)[] = []
  /** The depth at which an opaque value ends. */
  let opaqueTo = Number.POSITIVE_INFINITY
  for (let at = 0; at < text.length; at += 1) {
    const found = text.charCodeAt(at)
    if (found === openBrace) open.push(new Set())
    else if (found === openBracket) open.push(undefined)
    else if (found === closeBrace || found === closeBracket) {
      open.pop()
      if (open.length <= opaqueTo) opaqueTo = Number.POSITIVE_INFINITY
    } else if (found === quote) {
      const end = closingQuote(text, at + 1)
      const next = spaceEnd(text, end + 1)
      const names = open.at(-1)
      if (text.charCodeAt(next) === colon && names !== undefined) {
        const isOpaque = open.length > opaqueTo
        const name = stringValue(text, at + 1, end)
        const folded = isOpaque ? name : name.toUpperCase().toLowerCase()
        if (names.has(folded) || (folded !== name && leading.has(folded))) return false
        if (name === '__proto__' && !isOpaque) return false
        names.add(folded)
        const value = text[spaceEnd(text, next + 1)]
        if (!isOpaque && opaque.has(name) && (value === '{' || value === '['))
          opaqueTo = open.length
      }
      at = end
    }
  }
  return true
}
