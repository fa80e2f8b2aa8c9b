// Finds faults of a JSON text that JSON.parse hides. JSON.parse keeps the last of two members with
// the same name, without an error, and has no bound on nesting.

import { closingQuote, nextMark, spaceEnd, stringValue, unit } from '../../lib/json/tokens.ts'

const { closeBrace, closeBracket, colon, openBrace, openBracket, quote } = unit

/**
 * `repeated`: the first name that occurs twice in one object. RFC 8259 does not define which one
 * counts, so the validator could judge one value and the tool read the other. `too-deep`: more than
 * `depthMax` arrays and objects are open at once. `text` must be JSON.
 */
export function membersFault(
  text: string,
  depthMax: number,
): { kind: 'repeated'; name: string } | { kind: 'too-deep' } | undefined {
  /** The open arrays and objects, innermost last: for an object, its names so far. */
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
