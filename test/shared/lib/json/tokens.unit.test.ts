import { describe, expect, test } from '@jest/globals'
import fc from 'fast-check'
import {
  closingQuote,
  nextMark,
  scalarEnd,
  spaceEnd,
  stringValue,
} from '../../../../shared/lib/json/tokens.ts'

describe('closingQuote', () => {
  test('finds the end of each string that JSON.stringify writes', () => {
    fc.assert(
      fc.property(fc.string({ maxLength: 80 }), fc.string(), (value, rest) => {
        const text = JSON.stringify(value) + rest
        const end = closingQuote(text, 1)
        expect(end).toBe(JSON.stringify(value).length - 1)
        expect(stringValue(text, 1, end)).toBe(value)
      }),
    )
  })

  test('continues in the next piece, wherever the pieces end', () => {
    const content = fc.array(fc.constantFrom('a', '\\\\', '\\"', '\\n', 'x'.repeat(30)))
    fc.assert(
      fc.property(content, fc.infiniteStream(fc.nat(4)), (parts, sizes) => {
        const text = `${parts.join('')}"`
        let [start, from] = [0, 0]
        for (const size of sizes) {
          const piece = text.slice(start, start + size)
          const at = closingQuote(piece, from)
          if (at < piece.length) return expect(start + at).toBe(text.length - 1)
          from = at - piece.length
          start += size
          expect(start).toBeLessThan(text.length)
        }
      }),
    )
  })

  test('reads a megabyte of backslashes in one pass', () => {
    expect(closingQuote('\\'.repeat(1_000_001), 0)).toBe(1_000_002)
    expect(closingQuote(`${'\\'.repeat(1_000_000)}"`, 0)).toBe(1_000_000)
  })
})

describe('nextMark', () => {
  test.each(['{', '}', '[', ']', '"'])('stops at %s', (mark) => {
    expect(nextMark(`1, :;_Yy${mark}`, 0)).toBe(8)
  })

  test('gives the length where no mark follows', () => {
    expect(nextMark('true\u017b\u215b', 0)).toBe(6)
  })
})

describe('spaceEnd', () => {
  test('skips the four blanks of JSON only', () => {
    expect(spaceEnd(' \t\r\n\u00a0', 0)).toBe(4)
  })
})

describe('scalarEnd', () => {
  test.each([
    ['"a\\u00e9" ', 9],
    ['-1.5e+3,', 7],
    ['01', 1],
    ['null]', 4],
    ['"a\u0001"', { kind: 'unexpected', at: 2 }],
    ['"a\\q"', { kind: 'unexpected', at: 3 }],
    ['"a\\u0', { kind: 'unfinished', at: 5 }],
    ['-', { kind: 'unfinished', at: 1 }],
    ['nul', { kind: 'unfinished', at: 3 }],
    ['nil', { kind: 'unexpected', at: 1 }],
    ['/**/', { kind: 'unexpected', at: 0 }],
  ])('reads %j', (text, end) => {
    expect(scalarEnd(text, 0)).toEqual(end)
  })
})
