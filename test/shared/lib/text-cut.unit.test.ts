import { describe, expect, it } from '@jest/globals'
import { cutToBytes, onOneLine, shortened } from '../../../shared/lib/text-cut.ts'

describe('a text that is cut', () => {
  it('stays the same if it fits', () => {
    expect(cutToBytes('aé', 3)).toBe('aé')
    expect(shortened('aé', 3)).toBe('aé')
  })

  it('ends between characters', () => {
    expect(cutToBytes('aé', 2)).toBe('a')
    expect(cutToBytes('😀', 3)).toBe('')
    expect(cutToBytes('😀', 4)).toBe('😀')
  })

  it('ends in an ellipsis within its bound if it is shortened', () => {
    expect(shortened('abcdef', 5)).toBe('ab…')
    expect(shortened('abcdef', 3)).toBe('…')
  })
})

describe('a text on one line', () => {
  it.each([
    ['  two\r\n\tlines\n', 'two lines'],
    [
      '\u001b[1;31mred\u001b[0m \u001b]8;;https://example.org\u0007link\u001b]8;;\u0007',
      'red link',
    ],
    [
      'bell\u0007, nothing\u0000, \u202eturned\u202c, zero\u200bwidth, \u2028line',
      'bell , nothing , turned , zero width, line',
    ],
    ['\ufeffé 😀', 'é 😀'],
    ['\n', ''],
  ])('of %j is %j', (text, line) => expect(onOneLine(text)).toBe(line))

  it('uses only the beginning of a long text', () => {
    expect(onOneLine('x'.repeat(1_000_000)).length).toBeLessThan(5_000)
  })
})
