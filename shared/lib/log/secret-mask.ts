// Hides known secrets in a text: as they are, and in the encodings in which servers and programs
// repeat them. The values are known, so nothing is guessed.
// No part of a longer secret stays when a shorter one is its part.
// A short value counts only where no letter or digit is next to it, or with an escape
// in it. A value such as `prod` stays readable in "production".
// Escapes are undone one by one, so a value is found whichever of its characters are
// escaped.

import { decodedPart } from '../text/decoded-part.ts'

/** Fewer characters would hide ordinary words and numbers of a result. */
const lengthMin = 4
/** The same for a part of a word, and for a piece of an encoded value. */
const pieceMin = 8
/** The same for a value of letters alone in another case: it may be an ordinary word. */
const wordMin = 16

type Span = [start: number, end: number]

/** The least characters of a secret that no honest answer contains, and of one with a digit. */
const credentialMin = 16
const withDigitMin = 8

/** Whether an answer may hide the value: `ollama`, the key of a local server, is an ordinary word. */
export function isCredential(secret: string): boolean {
  return secret.length >= credentialMin || (secret.length >= withDigitMin && /\d/.test(secret))
}

/** Replaces each of `values` in a text, in every spelling, by `word`. */
export function secretMask(values: Iterable<string>, word = '[secret]'): (text: string) => string {
  const plain = [...new Set([...values].flatMap(plainForms))]
  const isTelling = (one: string) => one.length >= wordMin || /[^\p{L}]/u.test(one)
  const long = plain.filter((one) => one.length >= pieceMin)
  const folded = long.filter(isTelling).map(fold)
  const pieces = plain.flatMap((one) => base64Pieces(Buffer.from(one)))
  const inText = finder([...long.filter((one) => !isTelling(one)), ...pieces])
  const inLower = finder([...folded, ...plain.map(hexOf)])
  const words = plain
    .filter((one) => one.length < pieceMin)
    .map((one) => ({ text: one, pattern: wordPattern(one) }))
  const escaped = [...plain, ...plain.map(bytesOf)].map(fold)
  const escapes = escapesOf(escaped)
  const inPlain = finder(escaped)

  return (text) => {
    if (plain.length === 0) return text
    const lower = fold(text)
    const spans = [
      ...inText(text),
      ...inLower(lower),
      ...words.flatMap(({ text: one, pattern }) =>
        text.includes(one) ? [...text.matchAll(pattern)].map(spanOf) : [],
      ),
      ...(escapes.telling.test(lower) ? escapedSpans(lower, inPlain, escapes) : []),
    ]
    return spans.length === 0 ? text : withWord(text, spans, word)
  }
}

/** The trimmed value, that without its percent escapes, and both as in a form. */
function plainForms(value: string): string[] {
  const secret = value.trim()
  if (secret.length < lengthMin) return []
  return [secret, decodedPart(secret)]
    .filter((one) => one.length >= lengthMin)
    .flatMap((one) => [one, one.replaceAll(' ', '+')])
}

/** Lower case, with the same positions: `İ` alone would become two characters. */
function fold(text: string): string {
  return text.replaceAll('İ', 'I').toLowerCase().replaceAll('ς', 'σ')
}

type Finder = (text: string) => Span[]

/** One expression of all texts is ten times as fast as a search for each, if none is there. */
function finder(texts: readonly string[]): Finder {
  if (texts.length === 0) return () => []
  const all = [...new Set(texts)]
  const any = new RegExp(all.map(literal).join('|'))
  return (text) => (any.test(text) ? all.flatMap((one) => spansOf(text, one)) : [])
}

function spansOf(text: string, part: string): Span[] {
  const spans: Span[] = []
  for (let at = text.indexOf(part); at >= 0; at = text.indexOf(part, at + part.length))
    spans.push([at, at + part.length])
  return spans
}

function spanOf({ index, 0: { length } }: RegExpExecArray): Span {
  return [index, index + length]
}

/** Spans that overlap become one word. */
function withWord(text: string, spans: Span[], word: string): string {
  let shown = ''
  let end = 0
  for (const [start, stop] of spans.sort(([one], [other]) => one - other)) {
    if (start >= end) shown += text.slice(end, start) + word
    end = Math.max(end, stop)
  }
  return shown + text.slice(end)
}

/**
 * The text where it is no part of a word or number. The last character of an escape of JSON or of a
 * URL belongs to no word.
 */
function wordPattern(text: string): RegExp {
  const before = /^[\p{L}\p{N}]/u.test(text) ? wordStart : ''
  const after = /[\p{L}\p{N}]$/u.test(text) ? '(?![\\p{L}\\p{N}])' : ''
  return new RegExp(`${before}${literal(text)}${after}`, 'gu')
}

const wordStart = '(?<=^|[^\\p{L}\\p{N}]|\\\\[bfnrt]|\\\\u[\\dA-Fa-f]{4}|%[\\dA-Fa-f]{2})'

function literal(text: string): string {
  return text.replaceAll(/[$()*+./?[\\\]^{|}]/g, '\\$&')
}

// ── Escapes ──

const shortEscapes: Record<string, string> = {
  b: '\b',
  f: '\f',
  n: '\n',
  r: '\r',
  t: '\t',
  '"': '"',
  '/': '/',
  '\\': '\\',
}

type Escapes = {
  /** One that stands for a character of these values. Most texts have none. */
  telling: RegExp
  /** All that count, in runs and one by one. */
  runs: RegExp
  every: RegExp
}

/** `values` and the texts for these expressions are in lower case. */
function escapesOf(values: readonly string[]): Escapes {
  const units = [...new Set([...values, ...values.map((one) => one.toUpperCase())].join(''))]
  const hex = units.map((unit) => unit.charCodeAt(0).toString(16))
  const bytes = hex.map((code) => code.padStart(2, '0')).filter((code) => code.length === 2)
  const json = hex.map((code) => code.padStart(4, '0'))
  const short = Object.keys(shortEscapes).filter((key) => units.includes(shortEscapes[key] ?? ''))
  const shorts = short.map((key) => `|\\\\${literal(key)}`).join('')
  const [byte, unit] = ['%[\\da-f]{2}', '\\\\u[\\da-f]{4}']
  return {
    telling: new RegExp(`%(?:${bytes.join('|')})|\\\\u(?:${json.join('|')})${shorts}`),
    runs: new RegExp(`(?:${byte})+|(?:${unit})+${shorts}`, 'g'),
    every: new RegExp(`${byte}|${unit}${shorts}`, 'g'),
  }
}

/** The places of values with at least one escape in them. */
function escapedSpans(lower: string, find: Finder, { runs, every }: Escapes): Span[] {
  const found = find(fold(lower.replace(runs, unescaped)))
  if (found.length === 0) return []
  const inText = positions(lower, every)
  return found.flatMap(([start, end]): Span[] => {
    const span: Span = [inText(start), inText(end)]
    return span[1] - span[0] > end - start ? [span] : []
  })
}

/** One character for each escape. By hand: parseInt of a slice takes ten times as long. */
function unescaped(run: string): string {
  const [width, skipped] = run.charCodeAt(0) === percent ? [3, 1] : [6, 2]
  if (run.length < width) return shortEscapes[run.charAt(1)] ?? run
  let text = ''
  for (let at = 0; at < run.length; at += width) {
    let unit = 0
    for (let i = at + skipped; i < at + width; i++) {
      const digit = run.charCodeAt(i)
      unit = unit * 16 + (digit & 15) + (digit > nine ? 9 : 0)
    }
    text += String.fromCharCode(unit)
  }
  return text
}

const percent = 0x25
const nine = 0x39

/** The place in the text of a place in the text without escapes. */
function positions(text: string, every: RegExp): (at: number) => number {
  const ends = [0]
  const plainEnds = [0]
  let removed = 0
  for (const { index, 0: found } of text.matchAll(every)) {
    removed += found.length - 1
    ends.push(index + found.length)
    plainEnds.push(index + found.length - removed)
  }
  return (at) => {
    let [low, high] = [0, ends.length]
    while (high - low > 1) {
      const middle = (low + high) >> 1
      if ((plainEnds[middle] as number) <= at) low = middle
      else high = middle
    }
    return (ends[low] as number) + at - (plainEnds[low] as number)
  }
}

/** Its bytes in UTF-8, one character for each: percent escapes stand for bytes. */
function bytesOf(text: string): string {
  return Buffer.from(text).toString('latin1')
}

function hexOf(text: string): string {
  return Buffer.from(text).toString('hex')
}

/**
 * The part of the base64 that does not depend on the bytes around. The value can start at three
 * places of a longer encoded text, as in `user:password`.
 */
function base64Pieces(bytes: Buffer): string[] {
  return [0, 1, 2]
    .flatMap((shift) => {
      const text = Buffer.concat([Buffer.alloc(shift), bytes]).toString('base64')
      const start = Math.ceil((shift * 8) / 6)
      const end = Math.floor(((shift + bytes.length) * 8) / 6)
      const piece = text.slice(start, end)
      return [piece, piece.replaceAll('+', '-').replaceAll('/', '_')]
    })
    .filter((piece) => piece.length >= pieceMin)
}
