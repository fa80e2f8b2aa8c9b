import { describe, expect, it } from '@jest/globals'
import { withExactNumbers } from '../../../../shared/lib/json/raw-numbers.ts'

describe('a JSON text with numbers', () => {
  it.each([
    '1',
    '-7',
    '-0',
    '0.1',
    '1.50',
    '1e3',
    '2E-7',
    '1e999',
    '9007199254740993',
    '123456789012345',
    '{"id":900719925474099267,"text":"1.50 and 9007199254740993","list":[-0,0,[1E2]]}',
  ])('%s is written digit by digit', (text) => {
    expect(JSON.stringify(withExactNumbers(text))).toBe(text)
  })

  it('that is no JSON has no value', () => {
    expect(['', '{', '01', '{"a":1.}', 'NaN'].map(withExactNumbers)).toEqual(
      Array.from({ length: 5 }, () => undefined),
    )
  })
})
