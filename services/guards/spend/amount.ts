// Exact amounts of money: a count of the smallest unit as a bigint, never a sum of floating-point
// numbers.

import type { JsonValue } from '../../../shared/contract/guard/guard.ts'

/**
 * The form of an amount in an argument.
 * - integer: a JSON integer that counts the smallest unit (1250 is 12.50 with two decimals).
 * - decimal-text: a string such as "12.50".
 * - number: a JSON number such as 12.5, read by its shortest decimal text. With at most 15 digits
 *   that is the written text.
 */
export type AmountForm = 'integer' | 'decimal-text' | 'number'

/** A bigint, or the fault of the amount, worded for the model. */
export type Amount = { units: bigint } | { fault: string }

/** More digits than any sum of money has. Bounds the state of a conversation. */
const digitsMax = 18

export function amountOf(value: JsonValue | undefined, form: AmountForm, decimals: number): Amount {
  if (value === undefined || value === null) return { fault: 'it is missing' }
  switch (form) {
    case 'integer':
      if (typeof value !== 'number') return { fault: `it is ${kindOf(value)}, not a JSON integer` }
      return Number.isSafeInteger(value)
        ? unitsOf(String(value), 0)
        : { fault: 'it is not an integer, or too large to be exact' }
    case 'decimal-text':
      return typeof value === 'string'
        ? unitsOf(value, decimals)
        : { fault: `it is ${kindOf(value)}, not a text such as "12.50"` }
    case 'number': {
      if (typeof value !== 'number') return { fault: `it is ${kindOf(value)}, not a JSON number` }
      const text = String(value)
      const isExact =
        Number.isFinite(value) &&
        !text.includes('e') &&
        text.replace(/[-.]/g, '').replace(/^0+/, '').length <= 15
      return isExact
        ? unitsOf(text, decimals)
        : { fault: 'it has more digits than a JSON number holds exactly' }
    }
  }
}

/** A decimal text as units. Also for an operator's limits. */
export function unitsOf(text: string, decimals: number): Amount {
  const match = /^(-?)(\d+)(?:\.(\d+))?$/.exec(text)
  if (match === null)
    return { fault: 'it is not a decimal number without sign, blanks and exponent' }
  const [, sign, whole = '', fraction = ''] = match
  if (fraction.length > decimals && /[1-9]/.test(fraction.slice(decimals)))
    return { fault: `it has more than ${decimals} decimals` }
  const digits = (whole + fraction.slice(0, decimals).padEnd(decimals, '0')).replace(
    /^0+(?=\d)/,
    '',
  )
  if (digits.length > digitsMax) return { fault: `it has more than ${digitsMax} digits` }
  const units = BigInt(digits)
  return sign === '-' && units !== 0n ? { fault: 'it is negative' } : { units }
}

export function textOfUnits(units: bigint, decimals: number): string {
  if (decimals === 0) return String(units)
  const digits = String(units).padStart(decimals + 1, '0')
  return `${digits.slice(0, -decimals)}.${digits.slice(-decimals)}`
}

function kindOf(value: JsonValue): string {
  if (Array.isArray(value)) return 'a list'
  if (typeof value === 'object') return 'an object'
  return typeof value === 'string' ? 'a text' : `a ${typeof value}`
}
