// The tokens of JSON (RFC 8259): where each one ends, and where a text stops being JSON. The only
// file that knows strings, escapes and blanks.
// Functions return positions in UTF-16 units and build no values. Callers slice the text.
// `scalarEnd` and `stringEnd` accept JSON only, exact to the character. The others trust
// the text: callers run them on checked JSON, or on pieces that cannot be checked.
// All are linear and none recurses: ten thousand backslashes must not overflow a stack.

/**
 * `at` is a position in UTF-16 units. `unfinished`: the text ends inside its token, and more text
 * could complete it. `unexpected`: no text after this position can make it JSON.
 */
export type TokenFault = { kind: 'unfinished' | 'unexpected'; at: number }

/**
 * UTF-16 units. Destructure them into constants of the module: V8 folds those into hot loops, but
 * not imported bindings.
 */
export const unit = {
  quote: 0x22,
  comma: 0x2c,
  colon: 0x3a,
  openBracket: 0x5b,
  closeBracket: 0x5d,
  openBrace: 0x7b,
  closeBrace: 0x7d,
} as const

const { quote, openBrace, closeBrace } = unit
const [space, tab, lineFeed, carriageReturn] = [0x20, 0x09, 0x0a, 0x0d]
const [backslash, minus, plus, point, zero, nine] = [0x5c, 0x2d, 0x2b, 0x2e, 0x30, 0x39]

/** The end of the blanks at `from`. */
export function spaceEnd(text: string, from: number): number {
  let at = from
  for (
    let found = text.charCodeAt(at);
    found === space || found === lineFeed || found === carriageReturn || found === tab;
    found = text.charCodeAt(at)
  )
    at += 1
  return at
}

/** The end of the string, number or word (`true`, `false`, `null`) that begins at `from`. */
export function scalarEnd(text: string, from: number): number | TokenFault {
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

/** The end of the string whose opening quote is at `from`, after its closing quote. */
export function stringEnd(text: string, from: number): number | TokenFault {
  let at = from + 1
  while (at < text.length) {
    const found = text.charCodeAt(at)
    if (found === quote) return at + 1
    if (found < space) return { kind: 'unexpected', at }
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
function escapeEnd(text: string, from: number): number | TokenFault {
  if (from >= text.length) return { kind: 'unfinished', at: text.length }
  if (text[from] !== 'u')
    return '"\\/bfnrt'.includes(text.charAt(from)) ? from + 1 : { kind: 'unexpected', at: from }
  for (let at = from + 1; at <= from + 4; at += 1) {
    if (at >= text.length) return { kind: 'unfinished', at }
    if (!/[0-9a-fA-F]/.test(text.charAt(at))) return { kind: 'unexpected', at }
  }
  return from + 5
}

function numberEnd(text: string, from: number): number | TokenFault {
  const sign = text.charCodeAt(from) === minus ? 1 : 0
  const whole: number | TokenFault =
    text.charCodeAt(from + sign) === zero ? from + sign + 1 : digitsEnd(text, from + sign)
  if (typeof whole !== 'number') return whole
  const fraction = text.charCodeAt(whole) === point ? digitsEnd(text, whole + 1) : whole
  if (typeof fraction !== 'number') return fraction
  if (text[fraction] !== 'e' && text[fraction] !== 'E') return fraction
  const signed = text.charCodeAt(fraction + 1)
  return digitsEnd(text, signed === plus || signed === minus ? fraction + 2 : fraction + 1)
}

/** The end of the digits that begin at `from`. At least one is required. */
function digitsEnd(text: string, from: number): number | TokenFault {
  let at = from
  while (isDigit(text.charCodeAt(at))) at += 1
  if (at > from) return at
  return { kind: at >= text.length ? 'unfinished' : 'unexpected', at }
}

function isDigit(found: number): boolean {
  return found >= zero && found <= nine
}

/**
 * The position of the quote that closes a string, from any position inside it. `text.length` or one
 * more: the string is still open. It continues in the next piece, at this position minus
 * `text.length`: one more means that the first character there is escaped.
 */
export function closingQuote(text: string, from: number): number {
  let at = from
  for (const near = Math.min(from + nearby, text.length); at < near; ) {
    const found = text.charCodeAt(at)
    if (found === quote) return at
    at += found === backslash ? 2 : 1
  }
  return at < text.length ? farQuote(text, at) : at
}

/** A loop over the characters is fastest on strings up to this length, `indexOf` on longer ones. */
const nearby = 24

function farQuote(text: string, from: number): number {
  for (let at = text.indexOf('"', from); at !== -1; at = text.indexOf('"', at + 1))
    if (!isEscaped(text, from, at)) return at
  return isEscaped(text, from, text.length) ? text.length + 1 : text.length
}

/** `from`: a position inside the string that is not escaped itself. */
function isEscaped(text: string, from: number, at: number): boolean {
  let first = at
  while (first > from && text.charCodeAt(first - 1) === backslash) first -= 1
  return (at - first) % 2 === 1
}

/** The value of the string between two quotes, which must be JSON. */
export function stringValue(text: string, begin: number, end: number): string {
  const content = text.slice(begin, end)
  return content.includes('\\') ? String(JSON.parse(`"${content}"`)) : content
}

/** The position of the next quote or bracket, from a position outside strings, or the length. */
export function nextMark(text: string, from: number): number {
  let at = from
  while (at < text.length && !isMark(text.charCodeAt(at))) at += 1
  return at
}

/** A bracket and its brace differ in one bit. */
function isMark(found: number): boolean {
  return found === quote || (found | 0x20) === openBrace || (found | 0x20) === closeBrace
}
