// Finds the position at which a text stops being JSON (RFC 8259). JSON.parse does not fit: its
// messages differ between versions of Node, and a replay must give the same records byte for byte.
// It also has no bound on nesting, and does not tell an unfinished text from a wrong one.
// Not recursive: a text of ten thousand brackets must not overflow a stack.

import { scalarEnd, spaceEnd, stringEnd, type TokenFault, unit } from './tokens.ts'

const { closeBrace, closeBracket, colon, comma, openBrace, openBracket, quote } = unit

/**
 * As a fault of a token, of the whole text. too-deep: an array or object opens here beyond the
 * allowed depth. The rest was not read.
 */
export type JsonFault = TokenFault | { kind: 'too-deep'; at: number }

/** Undefined: `text` is one JSON value, nested at most `depthMax` deep. A scalar has depth 0. */
export function jsonFault(text: string, depthMax: number): JsonFault | undefined {
  /** The closing brackets of the open arrays and objects, outermost first. */
  const open: number[] = []
  let expected: 'value' | 'value or ]' | 'member' | 'member or }' | 'colon' | 'comma or end' =
    'value'

  for (let at = spaceEnd(text, 0); ; at = spaceEnd(text, at)) {
    if (at >= text.length)
      return expected === 'comma or end' && open.length === 0
        ? undefined
        : { kind: 'unfinished', at }
    const found = text.charCodeAt(at)
    const closing = open.at(-1)

    if (expected === 'comma or end') {
      if (closing === undefined) return { kind: 'unexpected', at }
      if (found === closing) open.pop()
      else if (found === comma) expected = closing === closeBrace ? 'member' : 'value'
      else return { kind: 'unexpected', at }
      at += 1
    } else if (expected === 'colon') {
      if (found !== colon) return { kind: 'unexpected', at }
      expected = 'value'
      at += 1
    } else if ((expected === 'value or ]' || expected === 'member or }') && found === closing) {
      open.pop()
      expected = 'comma or end'
      at += 1
    } else if (expected === 'member' || expected === 'member or }') {
      if (found !== quote) return { kind: 'unexpected', at }
      const end = stringEnd(text, at)
      if (typeof end !== 'number') return end
      expected = 'colon'
      at = end
    } else if (found === openBrace || found === openBracket) {
      if (open.length >= depthMax) return { kind: 'too-deep', at }
      open.push(found === openBrace ? closeBrace : closeBracket)
      expected = found === openBrace ? 'member or }' : 'value or ]'
      at += 1
    } else {
      const end = scalarEnd(text, at)
      if (typeof end !== 'number') return end
      expected = 'comma or end'
      at = end
    }
  }
}
