import { describe, expect, it } from '@jest/globals'
import fc from 'fast-check'
import { columnsOf, cutToColumns, flow, wrapped } from '../../../../apps/terminal/text/word-wrap.ts'

describe('columns', () => {
  it.each([
    ['abc', 3],
    ['', 0],
    ['漢字', 4],
    ['e\u0301', 1],
    ['🎉', 2],
    ['한국', 4],
    ['ñandú', 5],
  ])('of %j are %d', (text, columns) => expect(columnsOf(text)).toBe(columns))

  it('limit a text, with an ellipsis in the last one', () => {
    expect(cutToColumns('abcdef', 6)).toBe('abcdef')
    expect(cutToColumns('abcdefg', 6)).toBe('abcde…')
    expect(cutToColumns('漢字漢字', 6)).toBe('漢字…')
  })
})

describe('a wrapped text', () => {
  it('breaks between words', () =>
    expect(wrapped('the quick brown fox', 10)).toEqual(['the quick', 'brown fox']))
  it('fills a line to its last column', () =>
    expect(wrapped('aaaa bbbbb cc', 10)).toEqual(['aaaa bbbbb', 'cc']))
  it('indents continued lines', () =>
    expect(wrapped('  the quick brown fox', 12, '    ')).toEqual([
      '  the quick',
      '    brown',
      '    fox',
    ]))
  it('breaks a word that is longer than a line', () =>
    expect(wrapped('abcdefghijklm', 5)).toEqual(['abcde', 'fghij', 'klm']))
  it('keeps the indentation of a line', () =>
    expect(wrapped('      code here', 12)).toEqual(['      code', 'here']))
  it('breaks wide characters by their columns', () =>
    expect(wrapped('漢字漢字漢字', 5)).toEqual(['漢字', '漢字', '漢字']))
  it('breaks a word longer than a line after an indent that is not blank', () =>
    expect(wrapped('> abcdefgh', 5, '> ')).toEqual(['> abc', '> def', '> gh']))
  it('ends at any width', () => {
    expect(wrapped('abc d', 1, '> ')).toEqual(['a', '> b', '> c', '> d', '> '])
    expect(wrapped('漢字', 1)).toEqual(['漢', '字', ''])
    expect(wrapped('ab   ', 1, '    ')).toEqual(['a', '    b', '    '])
  })
  it('is one line without a limit', () =>
    expect(wrapped('the quick brown fox', Number.POSITIVE_INFINITY)).toHaveLength(1))

  it('has all words and no line that is too long', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: 'grapheme', maxLength: 200 }),
        fc.integer({ min: 8, max: 40 }),
        (text, columns) => {
          const line = text.replaceAll(/\s/g, ' ')
          const lines = wrapped(line, columns, '  ')
          for (const each of lines) expect(columnsOf(each)).toBeLessThanOrEqual(columns)
          expect(lines.join('').replaceAll(' ', '')).toBe(line.replaceAll(' ', ''))
        },
      ),
      { numRuns: 200 },
    )
  })
})

describe('a growing line', () => {
  it('returns the full lines and keeps the rest', () => {
    const first = flow('', 'the quick br', 10)
    expect(first).toEqual({ lines: ['the quick'], rest: 'br' })
    expect(flow(first.rest, 'own fox jumps', 10)).toEqual({ lines: ['brown fox'], rest: 'jumps' })
  })
})
