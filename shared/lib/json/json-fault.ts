// What is wrong with a text that should be JSON (RFC 8259), and where. JSON.parse knows it too, but
// says it in words that differ between versions of Node, and a replay has to give the same records
// byte for byte; it has no bound on nesting; and it does not tell a text that ends too early from
// one that went wrong. Iterative, one pass: a text of ten thousand brackets must not overflow a
// stack.

import { scalarEnd, spaceEnd, stringEnd, type TokenFault, unit } from './tokens.ts'

const { closeBrace, closeBracket, colon, comma, openBrace, openBracket, quote } = unit

/**
 * `at` is a position in UTF-16 units. unfinished: the text ends before its value does, and could go
 * on to be JSON. unexpected: whatever follows, it is not JSON from here on. too-deep: an array or
 * object opens here at more than the allowed depth; the rest was not read.
 */
export type JsonFault = TokenFault | { kind: 'too-deep'; at: number }

/**
 * Undefined: `text` is the text of one JSON value, nested at most `depthMax` deep (a bare scalar
 * has depth 0).
 */
export function jsonFault(text: string, depthMax: number): JsonFault | undefined {
  /** What closes the arrays and objects that are open, outermost first. */
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
