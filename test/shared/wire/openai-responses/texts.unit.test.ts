import { describe, expect, it } from '@jest/globals'
import fc from 'fast-check'
import {
  addPiece,
  endPart,
  endText,
  newText,
} from '../../../../shared/wire/openai-responses/texts.ts'

/**
 * The visible text, and whether it is disputed. A string is a piece, and a string in a list is a
 * whole part.
 */
function shown(sent: (string | [whole: string])[], whole = ''): [string, boolean] {
  const streamed = newText()
  const fresh = sent.map((one) =>
    typeof one === 'string'
      ? addPiece(streamed, 'text 0', one)
      : endPart(streamed, 'text 0', one[0]),
  )
  return [fresh.join('') + endText(streamed, whole), streamed.isDisputed]
}

describe('a text that comes in pieces and whole', () => {
  it.each<[string, (string | [string])[], string, string]>([
    ['in pieces', ['a', 'b'], '', 'ab'],
    ['whole', [['ab']], '', 'ab'],
    ['whole in its item only', [], 'ab', 'ab'],
    ['again whole', ['a', 'b', ['ab']], 'ab', 'ab'],
    ['again and again', ['a', ['a'], 'b', ['ab'], ['ab'], ['b']], 'ab', 'ab'],
    ['whole, where pieces are missing at the end', ['a', ['abc']], 'abc', 'abc'],
    ['whole in its item, where pieces are missing at the end', ['a'], 'abc', 'abc'],
    ['whole without the blanks around it', ['\na', ' '], 'a', '\na '],
    ['whole without the blanks around it, in the end of its part', ['\na', ' ', ['a']], '', '\na '],
  ])('is emitted once: %s', (_, sent, whole, expected) => {
    expect(shown(sent, whole)).toEqual([expected, false])
  })

  it.each<[string, (string | [string])[], string, string]>([
    ['another text', ['a', ['b']], '', 'a'],
    ['less', ['a', 'b', ['a']], '', 'ab'],
    ['another text behind the first whole one', ['a', ['a'], ['b']], '', 'a'],
    ['another text in its item', ['a'], 'b', 'a'],
    ['more at its beginning', ['b'], 'ab', 'b'],
  ])('is disputed, and never joined: %s', (_, sent, whole, expected) => {
    expect(shown(sent, whole)).toEqual([expected, true])
  })

  it('may have several parts, each in pieces or whole', () => {
    const streamed = newText()
    const fresh = [
      addPiece(streamed, '0', 'a'),
      endPart(streamed, '0', 'ab'),
      endPart(streamed, '1', 'c'),
      addPiece(streamed, '2', 'd'),
      endPart(streamed, '2', 'd'),
    ]
    expect([fresh.join(''), endText(streamed, 'abcd'), streamed.isDisputed]).toEqual([
      'abcd',
      '',
      false,
    ])
  })

  it('is the whole text, wherever its pieces were split and lost at the end', () => {
    const text = fc.string({ unit: fc.constantFrom('a', 'b'), maxLength: 12 })
    fc.assert(
      fc.property(text, fc.array(fc.nat(3)), fc.nat(12), (whole, sizes, end) => {
        const pieces: string[] = []
        let rest = whole.slice(0, end)
        for (const size of sizes) {
          pieces.push(rest.slice(0, size))
          rest = rest.slice(size)
        }
        const [first] = shown([
          ...pieces.filter((piece) => piece !== ''),
          ...(whole === '' ? [] : [[whole] as [string]]),
        ])
        expect(first).toBe(whole)
      }),
      { numRuns: 300 },
    )
  })

  it('is looked for in no more pieces than a whole text has characters, however many came', () => {
    const streamed = newText()
    for (let n = 0; n < 10_000; n += 1) addPiece(streamed, '', 'x')
    const asked: unknown[] = []
    const get = (pieces: string[], key: string | symbol) => {
      if (key !== 'length') asked.push(key)
      return Reflect.get(pieces, key)
    }
    streamed.pieces = new Proxy(streamed.pieces, { get })
    expect([
      endPart(streamed, '', 'xxx'),
      endPart(streamed, '', 'yyy'),
      streamed.isDisputed,
    ]).toEqual(['', '', true])
    expect(asked.length).toBeLessThanOrEqual(4)
  })
})
