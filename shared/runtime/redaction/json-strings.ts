// Replaces the texts and numbers in JSON, each in its place and with all escapes resolved
// (`\u00fc`). It covers keys, doubled keys and truncated JSON, and keeps everything else as it was.

import { closingQuote, nextMark } from '../../lib/json/tokens.ts'

/** In a text that is not JSON as a whole, only quoted parts count as JSON. */
export function changedStrings(text: string, change: (leaf: string) => string): string {
  const isWhole = parsedJson(text) !== undefined
  const between = (piece: string) =>
    isWhole ? piece.replaceAll(number, (found) => changedNumber(found, change)) : piece
  let changed = ''
  let from = 0
  for (const { begin, end, isClosed } of stringsIn(text)) {
    const content = text.slice(begin, end)
    const leaf = decoded(content)
    const after = leaf === undefined ? undefined : change(leaf)
    const isSame = after === undefined || after === leaf
    changed += `${between(text.slice(from, begin - 1))}"${isSame ? content : JSON.stringify(after).slice(1, -1)}${isClosed ? '"' : ''}`
    from = isClosed ? end + 1 : end
  }
  return changed + between(text.slice(from))
}

const number = /-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g

function changedNumber(found: string, change: (leaf: string) => string): string {
  const after = change(found)
  return after === found ? found : JSON.stringify(after)
}

/**
 * An object or an array; undefined: the text is neither. A number that JavaScript would write
 * differently becomes its text.
 */
export function parsedJson(text: string): object | undefined {
  if (!/^\s*[[{]/.test(text)) return undefined
  try {
    return JSON.parse(text, asWritten)
  } catch {
    return undefined
  }
}

function asWritten(_: string, value: unknown, { source }: { source?: string } = {}): unknown {
  return typeof value === 'number' && source !== undefined && String(value) !== source
    ? source
    : value
}

/** Like parsedJson, for truncated JSON: the part that exists. */
export function parsedPiece(text: string): object | undefined {
  if (!/^\s*[[{]/.test(text)) return undefined
  const open: string[] = []
  let isCutInString = false
  for (let at = nextMark(text, 0); at < text.length; at = nextMark(text, at + 1)) {
    const found = text[at]
    if (found === '"') {
      at = closingQuote(text, at + 1)
      isCutInString = at >= text.length
    } else if (found === '{') open.push('}')
    else if (found === '[') open.push(']')
    else open.pop()
  }
  const cut = isCutInString ? `${withoutCutEscape(text)}"` : text.trimEnd()
  const ends = [
    cut,
    `${cut}:null`,
    `${cut}null`,
    cut.replace(/,$/, ''),
    cut.replace(/[a-zA-Z.+-]+$/, 'null'),
  ]
  const closing = open.reverse().join('')
  for (const end of ends) {
    const parsed = parsedJson(end + closing)
    if (parsed !== undefined) return parsed
  }
  return undefined
}

/** The quoted texts, except keys, in a text that only resembles JSON. */
export function quotedIn(text: string): string[] {
  const values = [...stringsIn(text)].filter(({ end }) => !/^"\s*:/.test(text.slice(end, end + 10)))
  return values.map(({ begin, end }) => decoded(text.slice(begin, end)) ?? text.slice(begin, end))
}

/** Whether the text begins like JSON. */
export function beginsLikeJson(text: string): boolean {
  return /^\s*(?:\{\s*(?:["}]|$)|\[\s*(?:[-"{[\]\d]|$))/.test(text)
}

/** The positions between the quotes of each string. */
function* stringsIn(text: string): Generator<{ begin: number; end: number; isClosed: boolean }> {
  for (let opening = text.indexOf('"'); opening >= 0; ) {
    const begin = opening + 1
    const end = closingQuote(text, begin)
    const isClosed = end < text.length
    yield { begin, end: Math.min(end, text.length), isClosed }
    opening = isClosed ? text.indexOf('"', end + 1) : -1
  }
}

/** Undefined: not a JSON string. A text truncated within an escape is read up to there. */
function decoded(content: string): string | undefined {
  if (!content.includes('\\')) return content
  try {
    return JSON.parse(`"${withoutCutEscape(content)}"`)
  } catch {
    return undefined
  }
}

/** A `\`, or a `\u00` at the end, unless the backslash is an escaped one. */
function withoutCutEscape(content: string): string {
  const backslash = content.lastIndexOf('\\')
  if (
    backslash < content.length - 5 ||
    !/^\\(?:u[0-9a-fA-F]{0,3})?$/.test(content.slice(backslash))
  )
    return content
  let first = backslash
  while (content[first - 1] === '\\') first -= 1
  return (backslash - first) % 2 === 0 ? content.slice(0, backslash) : content
}
