import { describe, expect, it } from '@jest/globals'
import fc from 'fast-check'
import { isExact, isWholeDecimal } from '../../../../shared/lib/json/exact-number.ts'

describe('an exact number', () => {
  it.each([
    ...['0', '-0', '0.0', '0e5', '1', '-1', '0.1', '100', '1e2', '1E+2', '0.30000000000000004'],
    ...['9007199254740991', '9007199254740992', '9007199254740994', '1e22', '1e-300', '5e-324'],
    ...['1.50000000000000000000000000', '1152921504606846976'],
  ])('is %s', (text) => expect(isExact(text)).toBe(true))

  it.each([
    ...['100.00000000000000001', '9007199254740993', '-9007199254740993', '1e23', '1e400'],
    ...['1e-400', '4e-324', '0.1000000000000000055511151231257827', '1152921504606847000'],
    ...[
      '9007199254740992.5',
      '1.7976931348623157e308',
      '123456789012345678901234567890',
      '0.12345678901234567890',
    ],
  ])('is not %s', (text) => expect(isExact(text)).toBe(false))

  it('is the text of every double, as JSON writes it, up to the integers that doubles skip', () => {
    fc.assert(
      fc.property(fc.double({ noNaN: true, noDefaultInfinity: true }), (double) => {
        const text = JSON.stringify(double)
        expect(isExact(text) || Math.abs(double) > 2 ** 53).toBe(true)
        expect(
          isExact(
            `${text.replace(/e.*/, '')}${text.includes('.') ? '' : '.'}0${/e.*/.exec(text) ?? ''}`,
          ),
        ).toBe(isExact(text))
      }),
    )
  })

  it('orders like its double, so a bound holds for every reader', () => {
    const anInteger = fc.bigInt({ min: -(2n ** 70n), max: 2n ** 70n })
    fc.assert(
      fc.property(anInteger, fc.nat(3), (integer, more) => {
        const [one, other] = [integer, integer + BigInt(more)]
        if (!isExact(String(one)) || !isExact(String(other))) return
        expect(Number(one) < Number(other)).toBe(one < other)
      }),
    )
  })
})

describe('a whole decimal', () => {
  it.each([
    ['30', true],
    ['30.0', true],
    ['3e1', true],
    ['0', true],
    ['1.5e1', true],
    ['1.00000000000000000001', false],
    ['1.5', false],
    ['1e-1', false],
  ])('%s: %s', (text, isWhole) => expect(isWholeDecimal(text)).toBe(isWhole))
})
