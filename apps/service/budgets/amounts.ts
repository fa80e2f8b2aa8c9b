// Amounts of budgets and prices as text: tokens, or US dollars with nine decimals.

import { WeirError } from '../../../shared/lib/errors.ts'
import { printable } from '../../terminal/text/printable.ts'

/** In US dollars. With nine decimals, a number holds it exactly. */
const usdMax = 1_000_000
const tokensMax = 999_999_999_999_999

/** `20USD`, `0.5 usd`: in billionths. Throws `usage`. */
export function usdOf(flag: string, text: string): number {
  const [, sign, number = '', currency = ''] =
    /^\s*(-?)(\d+(?:\.\d{1,9})?)\s*([A-Za-z]*)\s*$/.exec(text) ?? []
  const given = `${flag} '${printable(text)}'`
  if (sign === '-') throw new WeirError('usage', `${given} is negative`)
  if (number === '')
    throw new WeirError(
      'usage',
      `${given} is no amount: give one such as 20USD or 0.5USD, with at most nine decimals`,
    )
  if (currency.toUpperCase() !== 'USD')
    throw new WeirError(
      'usage',
      currency === ''
        ? `${given} has no currency: give ${number}USD`
        : `${given} is in another currency: budgets and prices are in USD`,
    )
  if (Number(number) > usdMax)
    throw new WeirError('usage', `${given} is more than ${usdMax} USD, which is the limit`)
  return Math.round(Number(number) * 1e9)
}

/** Throws `usage`. */
export function tokensOf(flag: string, text: string): number {
  const given = `${flag} '${printable(text)}'`
  if (/^\s*-/.test(text)) throw new WeirError('usage', `${given} is negative`)
  if (!/^\s*\d+\s*$/.test(text))
    throw new WeirError(
      'usage',
      `${given} is no number of tokens: give digits only, such as 1000000`,
    )
  const tokens = Number(text)
  if (tokens > tokensMax)
    throw new WeirError('usage', `${given} is more than ${tokensMax} tokens, which is the limit`)
  return tokens
}
