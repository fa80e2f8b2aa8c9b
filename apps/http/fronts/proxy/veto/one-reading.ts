// Whether all JSON parsers read the same calls in a text. Parsers differ in names that an object
// repeats, and Go's encoding/json does not distinguish capitals in names.

import { closingQuote, spaceEnd, stringValue, unit } from '../../../../../shared/lib/json/tokens.ts'

const { closeBrace, closeBracket, colon, openBrace, openBracket, quote } = unit

/** The names that lead to a call, in all APIs. */
const leading = new Set([
  ...['choices', 'delta', 'message', 'tool_calls', 'function_call', 'function', 'finish_reason'],
  ...['content', 'content_block', 'stop_reason', 'partial_json', 'input'],
  ...['response', 'output', 'item', 'call_id', 'arguments'],
  ...['type', 'id', 'index', 'name'],
])

/** Members with free names inside: arguments, and the parts of a request that answers repeat. */
const opaque = new Set([
  'input',
  'arguments',
  'tools',
  'parameters',
  'schema',
  'metadata',
  'prompt',
])

/**
 * False: an object has two names that differ in capitals at most, or a name that leads to a call is
 * written with capitals. `text` must be JSON. Linear.
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
      if (text.charCodeAt(next) === colon && names !== undefined && open.length <= opaqueTo) {
        const name = stringValue(text, at + 1, end)
        const folded = name.toUpperCase().toLowerCase()
        if (names.has(folded) || (folded !== name && leading.has(folded))) return false
        names.add(folded)
        const value = text[spaceEnd(text, next + 1)]
        if (opaque.has(name) && (value === '{' || value === '[')) opaqueTo = open.length
      }
      at = end
    }
  }
  return true
}
