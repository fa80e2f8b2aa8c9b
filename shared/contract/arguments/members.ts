// What a JSON text holds that JSON.parse does not show: of two members with the same name in one
// object it keeps the last and says nothing, and it nests as deep as the text does.

import { closingQuote, nextMark, spaceEnd, stringValue, unit } from '../../lib/json/tokens.ts'

const { closeBrace, closeBracket, colon, openBrace, openBracket, quote } = unit

/**
 * repeated: the first name that occurs twice in one object. RFC 8259 leaves open which of the two
 * counts, and readers differ: what the validator judged would not be what the tool reads. too-deep:
 * more than `depthMax` arrays and objects are open at once. `text` must be JSON.
 */
export function membersFault(
  text: string,
  depthMax: number,
): { kind: 'repeated'; name: string } | { kind: 'too-deep' } | undefined {
  /** One for each array and object that is open, innermost last; the names of an object so far. */
  const open: (Set<string> | undefined)[] = []
  for (let at = nextMark(text, 0); at < text.length; at = nextMark(text, at + 1)) {
    switch (text.charCodeAt(at)) {
      case openBrace:
        open.push(new Set())
        if (open.length > depthMax) return { kind: 'too-deep' }
        break
      case openBracket:
        open.push(undefined)
        if (open.length > depthMax) return { kind: 'too-deep' }
        break
      case closeBrace:
      case closeBracket:
        open.pop()
        break
      case quote: {
        const end = closingQuote(text, at + 1)
        // Only names are followed by a colon.
        if (text.charCodeAt(spaceEnd(text, end + 1)) === colon) {
          const name = stringValue(text, at + 1, end)
          const names = open.at(-1)
          if (names?.has(name)) return { kind: 'repeated', name }
          names?.add(name)
        }
        at = end
      }
    }
  }
  return undefined
}
