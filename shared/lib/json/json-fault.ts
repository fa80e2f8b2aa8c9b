// What is wrong with a text that should be JSON (RFC 8259), and where. JSON.parse knows it too, but
// says it in words that differ between versions of Node, and a replay has to give the same records
// byte for byte; it has no bound on nesting; and it does not tell a text that ends too early from
// one that went wrong. Iterative, one pass: a text of ten thousand brackets must not overflow a
// stack.

/**
 * `at` is a position in UTF-16 units. unfinished: the text ends before its value does, and could go
 * on to be JSON. unexpected: whatever follows, it is not JSON from here on. too-deep: an array or
 * object opens here at more than the allowed depth; the rest was not read.
 */
export type JsonFault = { kind: 'unfinished' | 'unexpected' | 'too-deep'; at: number }

const char = (text: string) => text.charCodeAt(0)
const quote = char('"')
const backslash = char('\\')
const comma = char(',')
const colon = char(':')
const minus = char('-')
const plus = char('+')
const point = char('.')
const zero = char('0')
const nine = char('9')
const openBrace = char('{')
const closeBrace = char('}')
const openBracket = char('[')
const closeBracket = char(']')
const firstPrintable = char(' ')

/**
 * Undefined: `text` is the text of one JSON value, nested at most `depthMax` deep (a bare scalar
 * has depth 0).
 */
export function jsonFault(text: string, depthMax: number): JsonFault | undefined {
  /** What closes the arrays and objects that are open, outermost first. */
  const open: number[] = []
  let expected: 'value' | 'value or ]' | 'member' | 'member or }' | 'colon' | 'comma or end' =
    'value'

  for (let at = afterSpace(text, 0); ; at = afterSpace(text, at)) {
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

function afterSpace(text: string, from: number): number {
  let at = from
  for (
    let found = text.charCodeAt(at);
    found === 0x20 || found === 0x0a || found === 0x0d || found === 0x09;
    found = text.charCodeAt(at)
  )
    at += 1
  return at
}

/** Where the string that opens at `from` is over, after its closing quote. */
function stringEnd(text: string, from: number): number | JsonFault {
  let at = from + 1
  while (at < text.length) {
    const found = text.charCodeAt(at)
    if (found === quote) return at + 1
    if (found < firstPrintable) return { kind: 'unexpected', at }
    if (found !== backslash) at += 1
    else {
      const end = escapeEnd(text, at + 1)
      if (typeof end !== 'number') return end
      at = end
    }
  }
  return { kind: 'unfinished', at: text.length }
}

/** `from`: after the backslash. */
function escapeEnd(text: string, from: number): number | JsonFault {
  if (from >= text.length) return { kind: 'unfinished', at: text.length }
  if (text[from] !== 'u')
    return '"\\/bfnrt'.includes(text.charAt(from)) ? from + 1 : { kind: 'unexpected', at: from }
  for (let at = from + 1; at <= from + 4; at += 1) {
    if (at >= text.length) return { kind: 'unfinished', at }
    if (!/[0-9a-fA-F]/.test(text.charAt(at))) return { kind: 'unexpected', at }
  }
  return from + 5
}

function scalarEnd(text: string, from: number): number | JsonFault {
  const found = text.charCodeAt(from)
  if (found === quote) return stringEnd(text, from)
  if (found === minus || isDigit(found)) return numberEnd(text, from)
  const word = ['true', 'false', 'null'].find(([first]) => first === text[from])
  if (word === undefined) return { kind: 'unexpected', at: from }
  for (let at = from; at < from + word.length; at += 1) {
    if (at >= text.length) return { kind: 'unfinished', at }
    if (text[at] !== word[at - from]) return { kind: 'unexpected', at }
  }
  return from + word.length
}

function numberEnd(text: string, from: number): number | JsonFault {
  const sign = text.charCodeAt(from) === minus ? 1 : 0
  const whole: number | JsonFault =
    text.charCodeAt(from + sign) === zero ? from + sign + 1 : digitsEnd(text, from + sign)
  if (typeof whole !== 'number') return whole
  const fraction = text.charCodeAt(whole) === point ? digitsEnd(text, whole + 1) : whole
  if (typeof fraction !== 'number') return fraction
  if (text[fraction] !== 'e' && text[fraction] !== 'E') return fraction
  const signed = text.charCodeAt(fraction + 1)
  return digitsEnd(text, signed === plus || signed === minus ? fraction + 2 : fraction + 1)
}

/** After the digits that begin at `from`; there has to be one. */
function digitsEnd(text: string, from: number): number | JsonFault {
  let at = from
  while (isDigit(text.charCodeAt(at))) at += 1
  if (at > from) return at
  return { kind: at >= text.length ? 'unfinished' : 'unexpected', at }
}

function isDigit(found: number): boolean {
  return found >= zero && found <= nine
}
