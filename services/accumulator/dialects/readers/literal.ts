// Reads a Python literal, or a value between the marks of Gemma, as JSON text. A Python literal is a
// value that Python's ast.literal_eval accepts and JSON can hold.
//
// Strings, numbers and their escapes have Python's rules, with every prefix but
// those of bytes and f-strings. The value is Python's, or there is none.
// Refused, because JSON has no such value: bytes, sets, complex numbers, infinity,
// names that are no text, half characters. A tuple becomes a list, as in Python's json.
// Refused, because a model's intent is open: two strings side by side. Python
// joins them, but from a model a comma is lost as often. Comments are refused too.
// Refused, because its table is Python's: `\N{…}`. JSON's true, false and null are
// accepted as a repair: Olmo 3 writes them, and a literal has no other meaning for them.

import { type Cursor, skip, skipBlanks, skipItems, skipMatch, upTo } from './cursor.ts'
import { depthMax, pythonWords, type Repair } from './written-json.ts'

/** Each function moves over its part and returns the part as JSON. Undefined: it is not there. */
type Spelling = {
  name(cursor: Cursor): string | undefined
  scalar(cursor: Cursor, repairs: Set<Repair>): string | undefined
  /** Brackets by their first one. */
  brackets: Record<string, string>
  /** A comma may follow the last item. */
  mayEndInComma: boolean
}

/**
 * The JSON text of the value that begins here, moving after the value. Undefined: there is none, and
 * the cursor stands near the fault.
 */
export function readLiteral(
  cursor: Cursor,
  spelling: Spelling,
  repairs: Set<Repair>,
  depth = 0,
): string | undefined {
  const open = cursor.text[cursor.at] ?? ''
  const close = spelling.brackets[open]
  if (close === undefined) return spelling.scalar(cursor, repairs)
  if (depth >= depthMax) return undefined
  cursor.at += 1
  const items: string[] = []
  const comma = skipItems(cursor, close, () => {
    const name = open === '{' ? memberName(cursor, spelling) : ''
    const value = name === undefined ? name : readLiteral(cursor, spelling, repairs, depth + 1)
    if (value !== undefined) items.push(name + value)
    return value !== undefined
  })
  if (comma === undefined || (comma >= 0 && !spelling.mayEndInComma)) return undefined
  // Parentheses around one value without a comma are only parentheses.
  if (open === '(' && items.length === 1 && comma < 0) return items[0]
  return open === '{' ? `{${items.join(',')}}` : `[${items.join(',')}]`
}

function memberName(cursor: Cursor, { name }: Spelling): string | undefined {
  const json = name(cursor)
  skipBlanks(cursor)
  if (json === undefined || !skip(cursor, ':')) return undefined
  skipBlanks(cursor)
  return `${json}:`
}

const bareNameHere = /[A-Za-z0-9_.$-]{1,256}(?=:)/y
const bareScalarHere =
  /(?:true|false|null|-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?)(?=[,}\]\s])/y

/** Bare names, and texts without escapes between two marks `quote` that no text can contain. */
export function gemmaSpelling(quote: string): Spelling {
  return {
    name: (cursor) => inQuotes(skipMatch(cursor, bareNameHere)?.[0]),
    scalar: (cursor) =>
      skip(cursor, quote) ? inQuotes(upTo(cursor, quote)) : skipMatch(cursor, bareScalarHere)?.[0],
    brackets: { '[': ']', '{': '}' },
    mayEndInComma: false,
  }
}

function inQuotes(text: string | undefined): string | undefined {
  return text === undefined ? undefined : JSON.stringify(text)
}

// ── Python ──

const wordHere = /(?:True|False|None|true|false|null)(?![\p{L}\p{N}_"'])/uy

export const pythonSpelling: Spelling = {
  name: pythonString,
  scalar: (cursor, repairs) =>
    pythonWord(cursor, repairs) ?? pythonNumber(cursor) ?? pythonString(cursor),
  brackets: { '[': ']', '(': ')', '{': '}' },
  mayEndInComma: true,
}

function pythonWord(cursor: Cursor, repairs: Set<Repair>): string | undefined {
  const [word] = skipMatch(cursor, wordHere) ?? []
  if (word === undefined) return undefined
  const json = pythonWords.get(word)
  if (json === undefined) repairs.add('json-word')
  return json ?? word
}

// ── Numbers with at most one sign ──

/** Python reads no decimal integer with more digits from a text. */
const digitsMax = 4_300

const signHere = /[+-]/y
const digits = `[0-9](?:_?[0-9]){0,${digitsMax}}`
const floatHere = new RegExp(
  `(?:(${digits})?\\.(${digits})|(${digits})\\.|(${digits})(?=[eE]))(?:[eE]([+-]?${digits}))?`,
  'y',
)
const basedHere =
  /0(?:[xX](?:_?[0-9a-fA-F]){1,4300}|[oO](?:_?[0-7]){1,4300}|[bB](?:_?[01]){1,4300})/y
const integerHere = /(?:[1-9](?:_?[0-9]){0,4300}|0(?:_?0){0,4300})/y
/** A number must not continue as a name, another number, or a complex number. */
const behind = /[\p{L}\p{N}_.]/uy

/** The cursor moves only after a number. Undefined: there is none that JSON can hold. */
function pythonNumber(cursor: Cursor): string | undefined {
  const from = cursor.at
  const sign = skipMatch(cursor, signHere)?.[0] === '-' ? '-' : ''
  skipBlanks(cursor)
  const json = float(cursor, sign) ?? integer(cursor, sign)
  if (json !== undefined && skipMatch({ ...cursor }, behind) === undefined) return json
  cursor.at = from
  return undefined
}

function float(cursor: Cursor, sign: string): string | undefined {
  const match = skipMatch(cursor, floatHere)
  if (match === undefined) return undefined
  const [, before, after, pointed, whole, power] = match.map((part) => part?.replaceAll('_', ''))
  const integer = (before ?? pointed ?? whole ?? '').replace(/^0+(?=[0-9])/, '') || '0'
  const fraction = whole === undefined ? `.${after ?? '0'}` : ''
  const exponent = power === undefined ? '' : `e${power.replace('+', '')}`
  const json = `${sign}${integer}${fraction}${exponent}`
  return Number.isFinite(Number(json)) ? json : undefined
}

/** An integer has no negative zero. */
function integer(cursor: Cursor, sign: string): string | undefined {
  const [found] = skipMatch(cursor, basedHere) ?? skipMatch(cursor, integerHere) ?? []
  if (found === undefined || found.length > digitsMax) return undefined
  const value = BigInt(found.replaceAll('_', '').replace(/^0+(?=[0-9])/, ''))
  return value === 0n ? '0' : `${sign}${value}`
}

// ── Strings ──

/** Prefixes of bytes, f-strings and templates do not match: those are no texts. */
const openHere = /([rR]|[uU])?("""|'''|"|')/y

/** The cursor moves only after a string. Undefined: there is none, or it has half a character. */
function pythonString(cursor: Cursor): string | undefined {
  const from = cursor.at
  const [, prefix = '', quote] = skipMatch(cursor, openHere) ?? []
  const value = quote && contents(cursor, quote, prefix.toLowerCase() === 'r')
  if (value?.isWellFormed()) return JSON.stringify(value)
  cursor.at = from
  return undefined
}

/** The characters up to the next quote, backslash or line end, or a quote of the other kind. */
const plainHere = /[^"'\\\r\n]+|["']/y
const lineEndHere = /\r\n?|\n/y

/** Moves after the closing quote. Python reads every line end in its source as a line feed. */
function contents(cursor: Cursor, quote: string, isRaw: boolean): string | undefined {
  const pieces: string[] = []
  while (!skip(cursor, quote)) {
    const piece = skip(cursor, '\\') ? escaped(cursor, isRaw) : plain(cursor, quote)
    if (piece === undefined) return undefined
    pieces.push(piece)
  }
  return pieces.join('')
}

/** Only a triple quote allows a line end. */
function plain(cursor: Cursor, quote: string): string | undefined {
  const [text] = skipMatch(cursor, plainHere) ?? []
  if (text !== undefined || quote.length === 1) return text
  return skipMatch(cursor, lineEndHere) && '\n'
}

/** The escapes of one character and their values, in the same order. */
const [letters, values] = [`abfnrtv\\'"`, `\x07\b\f\n\r\t\v\\'"`]
const escapeHere = /([0-7]{1,3})|x([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|([^xuUN])/y

/**
 * The cursor is after the backslash. In a raw string both characters stand for themselves. An unknown escape keeps its backslash, as in
 * every version of Python so far. Half characters have no bytes, so a pair of them must not become a
 * whole one either.
 */
function escaped(cursor: Cursor, isRaw: boolean): string | undefined {
  const next = cursor.text[cursor.at]
  if (next === undefined) return undefined
  if (skipMatch(cursor, lineEndHere) !== undefined) return isRaw ? '\\\n' : ''
  const simple = letters.indexOf(next)
  if (isRaw || simple >= 0) {
    cursor.at += 1
    return isRaw ? `\\${next}` : values[simple]
  }
  const [, octal, two, four, eight, other] = skipMatch(cursor, escapeHere) ?? []
  if (other !== undefined) return `\\${other}`
  const point = Number.parseInt(octal ?? two ?? four ?? eight ?? '', octal === undefined ? 16 : 8)
  const isCharacter = point <= 0x10ffff && !(point >= 0xd800 && point <= 0xdfff)
  return isCharacter ? String.fromCodePoint(point) : undefined
}
