import { describe, expect, it } from '@jest/globals'
import fc from 'fast-check'
import { argumentLines } from '../../../../apps/terminal/text/argument-lines.ts'
import { columnsOf } from '../../../../apps/terminal/text/word-wrap.ts'

describe('arguments that a person decides about', () => {
  it('have an indent at any width of the terminal', () => {
    expect(argumentLines('{"env":"prod", "n":1}', 80)).toEqual(['    {"env":"prod", "n":1}'])
    expect(argumentLines('{"env":"prod", "n":1}', Number.POSITIVE_INFINITY)).toEqual([
      '    {"env":"prod", "n":1}',
    ])
    expect(argumentLines('{\n  "a": 1\n}', 80)).toEqual(['    {', '      "a": 1', '    }'])
  })

  it('are broken where a line is full, even inside a word', () => {
    expect(argumentLines('rm -r /etc /home', 14)).toEqual(['    rm -r /etc', '  ↪ ␣/home'])
    expect(argumentLines('漢字漢字', 9)).toEqual(['    漢字', '  ↪ 漢字'])
  })

  it('show blanks that are consecutive or at the end of a line', () => {
    expect(argumentLines('rm   x  ', 80)).toEqual(['    rm␣␣␣x␣␣'])
    expect(argumentLines('ab    cd', 8)).toEqual(['    ab␣␣', '  ↪ ␣␣cd'])
    expect(argumentLines('ab\t\u00a0\u3000␣\r', 80)).toEqual([
      '    ab\\t\\u{a0}\\u{3000}\\u{2423}\\r',
    ])
  })

  it('differ in their lines if their texts differ, and no line is wider than the terminal', () => {
    const alphabet = fc.constantFrom(' ', ' ', 'a', '"', '\n', '␣', '漢', '\u00a0')
    const text = fc.string({ unit: alphabet, maxLength: 40 })
    fc.assert(
      fc.property(text, text, fc.integer({ min: 6, max: 20 }), (one, other, columns) => {
        const shown = argumentLines(one, columns)
        for (const line of shown) expect(columnsOf(line)).toBeLessThanOrEqual(columns)
        expect(shown.filter((line) => !/^ {2}[ ↪] /.test(line))).toEqual([])
        if (one !== other) expect(shown).not.toEqual(argumentLines(other, columns))
      }),
    )
  })

  it('differ in their lines if one blank or line end at a break differs', () => {
    expect(argumentLines('abcdefgh\nij', 12)).not.toEqual(argumentLines('abcdefghij', 12))
    for (let blanks = 1; blanks < 30; blanks += 1) {
      const padded = (count: number) => argumentLines(`{"path":"xx${' '.repeat(count)}y"}`, 20)
      expect(padded(blanks)).not.toEqual(padded(blanks - 1))
    }
  })
})
