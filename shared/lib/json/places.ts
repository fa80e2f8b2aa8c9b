// Walks the strings and numbers of a JSON text in their order, each with its place. JSON.parse loses
// the spelling of a number and the position of a string.

import { closingQuote, spaceEnd, stringValue, unit } from './tokens.ts'

const { closeBrace, closeBracket, colon, comma, openBrace, openBracket, quote } = unit
const [minus, zero, nine] = [0x2d, 0x30, 0x39]

/** Names of members and indexes in lists, from the top. */
export type Place = readonly (string | number)[]

/** `from` and `to` are positions in UTF-16 units. A string includes its quotes. */
export type Scalar = { kind: 'string' | 'number'; from: number; to: number; path(): Place }

type Open = { key: string } | { index: number }

/** `text` must be JSON. Names of members are no scalars. `path` is valid until the next step. */
export function* scalarsIn(text: string): Generator<Scalar> {
  const open: Open[] = []
  const path = () => open.map((step) => ('key' in step ? step.key : step.index))
  for (let at = 0; at < text.length; ) {
    const found = text.charCodeAt(at)
    const inner = open.at(-1)
    let to = at + 1
    if (found === openBrace) open.push({ key: '' })
    else if (found === openBracket) open.push({ index: 0 })
    else if (found === closeBrace || found === closeBracket) open.pop()
    else if (found === comma && inner !== undefined && 'index' in inner) inner.index += 1
    else if (found === quote) {
      const end = closingQuote(text, at + 1)
      to = end + 1
      // Only names are followed by a colon.
      if (text.charCodeAt(spaceEnd(text, to)) !== colon)
        yield { kind: 'string', from: at, to, path }
      else if (inner !== undefined && 'key' in inner) inner.key = stringValue(text, at + 1, end)
    } else if (found === minus || (found >= zero && found <= nine)) {
      while ('0123456789.eE+-'.includes(text[to] ?? ' ')) to += 1
      yield { kind: 'number', from: at, to, path }
    }
    at = to
  }
}
