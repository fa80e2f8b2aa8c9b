import { describe, expect, it } from '@jest/globals'
import { usdText } from '../../../../apps/terminal/text/money-text.ts'

describe('an amount of money', () => {
  it.each([
    [0, '0.0000 USD'],
    [1, '0.000000001 USD'],
    [10_000, '0.00001 USD'],
    [100_000, '0.0001 USD'],
    [20_000_000_000, '20.0000 USD'],
  ])('has the decimals that it needs: %i billionths are %s', (nano, text) => {
    expect(usdText(nano)).toBe(text)
  })
})
