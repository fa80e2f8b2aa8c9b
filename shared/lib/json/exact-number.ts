// Whether all readers of a JSON number get the same value. Some read doubles, others decimals or
// 64-bit integers: 100.00000000000000001 is 100 for the first and more for the others.
//
// An integer passes if the double has exactly its value. A fraction passes if it is
// the shortest decimal of its double: 0.1 does, though no double is one tenth.
// So each double has one decimal that passes, and decimals order like their doubles.
// A bound that one reader sees kept is kept for every reader.

import { type Place, scalarsIn } from './places.ts'

/** The numbers of `text`, which must be JSON, that are not exact. `path`: valid until the next step. */
export function* inexactNumbersIn(text: string): Generator<{ sent: string; path(): Place }> {
  if (!mayBeInexact.test(text)) return
  for (const { kind, from, to, path } of scalarsIn(text)) {
    if (kind !== 'number') continue
    const sent = text.slice(from, to)
    if (!isExact(sent)) yield { sent, path }
  }
}

/** The nearest name of a place. Empty: none. */
export function fieldAt(place: Place): string {
  return String(place.findLast((step) => typeof step === 'string') ?? '')
}

/** More than fifteen digits, or an exponent of two. Any other number is exact. */
const mayBeInexact = /\d[\d.]{15}|\d[eE][+-]?\d\d/

/** `text` must be a JSON number. */
export function isExact(text: string): boolean {
  const sent = decimalOf(text)
  if (sent === undefined) return false
  // Every decimal of 15 digits, before the point or in all, survives a double.
  const digits = sent.digits.length + Math.max(0, sent.exponent)
  if (digits <= digitsSafe && sent.exponent > -exponentSafe) return true
  const double = Number(text)
  if (!Number.isFinite(double)) return false
  const isInteger = sent.exponent >= 0
  const held = decimalOf(isInteger ? BigInt(double).toString() : String(double))
  return held?.digits === sent.digits && held.exponent === sent.exponent
}

/** Whether the decimal itself is a whole number. 1.00000000000000000001 is none. */
export function isWholeDecimal(text: string): boolean {
  return (decimalOf(text)?.exponent ?? -1) >= 0
}

const digitsSafe = 15
const exponentSafe = 250

/** The value is digits × 10^exponent. No zero begins or ends the digits, and zero has none. */
function decimalOf(text: string): { digits: string; exponent: number } | undefined {
  const [, whole, fraction = '', power = '0'] =
    /^-?(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/.exec(text) ?? []
  if (whole === undefined) return undefined
  const all = whole + fraction
  let end = all.length
  while (all[end - 1] === '0') end -= 1
  let begin = 0
  while (begin < end && all[begin] === '0') begin += 1
  if (begin === end) return { digits: '', exponent: 0 }
  return {
    digits: all.slice(begin, end),
    exponent: Number(power) - fraction.length + (all.length - end),
  }
}
