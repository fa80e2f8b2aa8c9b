// Folds a text, so that spellings of one value become equal, and maps each folded character to its
// place in the text. It resolves escapes of JSON, Python, HTML and URLs, also within each other. It
// decomposes characters (Unicode NFKD). It drops characters without width, blanks and line wraps,
// quotes, and the backslashes of a shell.
// Each pass reads the text once, and the number of passes is fixed: linear time.
// A folded character maps to its whole spelling: a replacement never leaves half of one.

import { formats } from '../../lib/text/invisible.ts'

/** `starts[at]`, `ends[at]`: the spelling of the folded character at that index. */
export type FoldedText = { text: string; starts: number[]; ends: number[] }

/** A spelling in the text: the characters it means, and its length. */
type Spelled = { means: string; length: number }

/** JSON in a URL in HTML has three. */
const decodingsMax = 4

/** For a search for values. Undefined: folding would change nothing that an exact search misses. */
export function foldedText(text: string): FoldedText | undefined {
  return mayBeRespelled.test(text) || quotes.test(text)
    ? changed(decodedText(text), plainAt)
    : undefined
}

/**
 * For a search by a pattern, which may name blanks, quotes and backslashes: they stay, but for empty
 * quotes within a word. Undefined: nothing is respelled.
 */
export function visibleText(text: string): FoldedText | undefined {
  if (!mayBeRespelled.test(text)) return undefined
  const visible = changed(changed(decodedText(text), visibleAt), composedAt)
  return visible.text === text ? undefined : visible
}

function decodedText(text: string): FoldedText {
  let folded: FoldedText = {
    text,
    starts: Array.from({ length: text.length }, (_, at) => at),
    ends: Array.from({ length: text.length }, (_, at) => at + 1),
  }
  for (let pass = 0; pass < decodingsMax; pass += 1) {
    const decoded = changed(folded, decodedAt)
    if (decoded.text === folded.text) break
    folded = decoded
  }
  return folded
}

/** A value as it stands in a folded text. */
export function foldedValue(value: string): string {
  return foldedText(value)?.text ?? value
}

const mayBeRespelled = /[\\&%\s]|''|""|\P{ASCII}/u
const quotes = /['"]/

function changed(
  { text, starts, ends }: FoldedText,
  spelledAt: (text: string, at: number) => Spelled,
): FoldedText {
  const pieces: string[] = []
  const after: FoldedText = { text: '', starts: [], ends: [] }
  for (let at = 0; at < text.length; ) {
    const { means, length } = spelledAt(text, at)
    const start = starts[at] as number
    const end = ends[at + length - 1] as number
    pieces.push(means)
    for (let unit = 0; unit < means.length; unit += 1) {
      after.starts.push(start)
      after.ends.push(end)
    }
    at += length
  }
  after.text = pieces.join('')
  return after
}

const escapes =
  /\\(?:[uU]\{([\da-fA-F]{1,6})\}|u([\da-fA-F]{4})|U([\da-fA-F]{8})|x([\da-fA-F]{2})|([nrtbf\\/"'])|\r?\n)/y
const entity = /&(?:#x([0-9a-f]{1,6})|#(\d{1,7})|([a-z]{2,8}));/iy
const percents = /(?:%[0-9a-f]{2})+/iy

/** Only those of characters that a writer of HTML may escape. */
const entities: Record<string, string> = {
  amp: '&',
  lt: '<',
  gt: '>',
  quot: '"',
  apos: "'",
  nbsp: ' ',
  sol: '/',
  bsol: '\\',
  commat: '@',
  period: '.',
  colon: ':',
  equals: '=',
  plus: '+',
  num: '#',
  lowbar: '_',
  hyphen: '-',
  dollar: '$',
  percnt: '%',
  lpar: '(',
  rpar: ')',
  comma: ',',
  semi: ';',
  auml: 'ä',
  ouml: 'ö',
  uuml: 'ü',
  Auml: 'Ä',
  Ouml: 'Ö',
  Uuml: 'Ü',
  szlig: 'ß',
  eacute: 'é',
  egrave: 'è',
  agrave: 'à',
  ccedil: 'ç',
  ntilde: 'ñ',
  aring: 'å',
  oslash: 'ø',
}
const controls: Record<string, string> = { n: '\n', r: '\r', t: '\t', b: '\b', f: '\f' }

function decodedAt(text: string, at: number): Spelled {
  switch (text[at]) {
    case '\\': {
      const [all = '', braced, four, eight, two, one] = matchAt(escapes, text, at)
      if (all === '') break
      const code = braced ?? four ?? eight ?? two
      if (code !== undefined) return { means: characterOf(code, 16), length: all.length }
      return { means: one === undefined ? '' : (controls[one] ?? one), length: all.length }
    }
    case '&': {
      const [all = '', hex, decimal, name] = matchAt(entity, text, at)
      if (all === '') break
      const means =
        name === undefined ? characterOf(hex ?? decimal ?? '', hex ? 16 : 10) : entities[name]
      if (means !== undefined) return { means, length: all.length }
      break
    }
    case '%': {
      const spelled = percentAt(text, at)
      if (spelled !== undefined) return spelled
      break
    }
  }
  return { means: text[at] as string, length: 1 }
}

/** The bytes of a character of UTF-8, by its first one. */
function bytesOf(first: number): number {
  if (first < 0x80) return 1
  if (first < 0xe0) return 2
  return first < 0xf0 ? 3 : 4
}

/** One character of UTF-8. Undefined: the bytes are none. */
function percentAt(text: string, at: number): Spelled | undefined {
  const first = Number.parseInt(
    /^%[0-9a-f]{2}/i.test(text.slice(at, at + 3)) ? text.slice(at + 1, at + 3) : 'x',
    16,
  )
  if (Number.isNaN(first)) return undefined
  const bytes = bytesOf(first)
  const [found = ''] = matchAt(percents, text.slice(at, at + 3 * bytes), 0)
  try {
    return found.length < 3 * bytes
      ? undefined
      : { means: decodeURIComponent(found), length: found.length }
  } catch {
    return undefined
  }
}

function characterOf(code: string, base: 10 | 16): string {
  const point = Number.parseInt(code, base)
  return point <= 0x10ffff ? String.fromCodePoint(point) : '\ufffd'
}

const quotePair = /''|""/y
const dropped = new RegExp(`[\\s\\\\'"${formats}]`, 'u')

/** Drops invisible characters, blanks and a shell's marks, and decomposes the rest. */
function plainAt(text: string, at: number): Spelled {
  const character = String.fromCodePoint(text.codePointAt(at) as number)
  const { length } = character
  // The end of a line in quoted-printable.
  if (character === '=' && /[\r\n]/.test(text[at + 1] ?? '')) return { means: '', length }
  return { means: dropped.test(character) ? '' : character.normalize('NFKD'), length }
}

const invisible = new RegExp(`[${formats}]`, 'u')

const beforeQuotes = /[\p{L}\p{N}\p{M}@._+-]$/u
const afterQuotes = /[\p{L}\p{N}@._+-]/uy

function visibleAt(text: string, at: number): Spelled {
  const [pair] = matchAt(quotePair, text, at)
  const isWithinWord = () =>
    beforeQuotes.test(text.slice(Math.max(0, at - 2), at)) &&
    matchAt(afterQuotes, text, at + 2).length > 0
  if (pair !== undefined && isWithinWord()) return { means: '', length: 2 }
  const character = String.fromCodePoint(text.codePointAt(at) as number)
  const means = invisible.test(character) ? '' : character.normalize('NFKC')
  return { means, length: character.length }
}

/** A letter with its marks, or the pieces of a Korean syllable. */
const composed = /\P{M}\p{M}+|[\u1100-\u1112][\u1161-\u1175][\u11a8-\u11c2]?/uy

function composedAt(text: string, at: number): Spelled {
  const [pieces] = matchAt(composed, text, at)
  if (pieces === undefined) return { means: text[at] as string, length: 1 }
  return { means: pieces.normalize('NFC'), length: pieces.length }
}

function matchAt(shape: RegExp, text: string, at: number): (string | undefined)[] {
  shape.lastIndex = at
  return shape.exec(text) ?? []
}
