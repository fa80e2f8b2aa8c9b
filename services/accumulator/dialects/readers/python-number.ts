// Reads a Python number with at most one sign as a JSON number of the same value.

import { type Cursor, skipBlanks, skipMatch } from './cursor.ts'

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

/** The cursor moves only behind a number. Undefined: there is none that JSON can hold. */
export function pythonNumber(cursor: Cursor): string | undefined {
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
