import { describe, expect, it } from '@jest/globals'
import fc from 'fast-check'
import {
  printable,
  printableJson,
  printableLines,
  withoutControls,
} from '../../../../apps/terminal/text/printable.ts'

describe('foreign text on a terminal', () => {
  it.each([
    ['\u001b[2J', '\\u{1b}[2J', 'a control sequence'],
    ['\u009b31m', '\\u{9b}31m', 'one of eight bits'],
    ['a\rb', 'a\\rb', 'a carriage return'],
    ['a\nb\tc', 'a\\nb\\tc', 'line ends and tabs'],
    ['abc\u202edef', 'abc\\u{202e}def', 'a change of direction'],
    ['pay\u200bpal', 'pay\\u{200b}pal', 'what takes no space'],
    ['a\u200db', 'a\\u{200d}b', 'a joiner that joins nothing'],
    ['a\u2028b', 'a\\u{2028}b', 'other line ends'],
    ['\ud83d', '\\u{d83d}', 'half a character'],
    ['A\ufe0fB\u{e0100}', 'A\\u{fe0f}B\\u{e0100}', 'variations of letters'],
    ['\u034f\u17b5\u115f', '\\u{34f}\\u{17b5}\\u{115f}', 'letters without a shape'],
    ['\u{e0041}', '\\u{e0041}', 'a tag'],
  ])('shows %j as %s: %s', (text, shown) => {
    expect(printable(text)).toBe(shown)
  })

  it.each(['plain text', 'Grüße, 日本語, עברית', '👍🏽 👩‍👩‍👧 🏳️‍🌈 ☎️ 1️⃣', ''])(
    'keeps %s unchanged',
    (text) => {
      expect(printable(text)).toBe(text)
    },
  )

  it('keeps its lines, with tabs as spaces', () => {
    expect(printableLines('one\r\n\ttwo\n\nthree\n')).toEqual(['one', '  two', '', 'three'])
    expect(printableLines('')).toEqual([''])
  })

  it('keeps its value as JSON, without control characters', () => {
    fc.assert(
      fc.property(fc.array(fc.string({ unit: 'binary' })), (texts) => {
        const json = printableJson(texts)
        expect(JSON.parse(json)).toEqual(texts)
        expect(json).toBe(printable(json))
      }),
    )
  })
})

describe('foreign text in a pipe', () => {
  it.each([
    ['a\u001b]52;c;aGk=\u0007b', 'a]52;c;aGk=b', 'a sequence that sets the clipboard'],
    ['a\u009b31mb', 'a31mb', 'a control of eight bits'],
    ['a\rb\r\nc', 'ab\nc', 'carriage returns'],
    ['a\u0008\u007f\u0000b', 'ab', 'other controls'],
    ['a\u202edef\u2066g\u2069', 'adefg', 'changes of direction'],
    ['a\u2028b\u2029c', 'abc', 'foreign line ends'],
    ['a\u{e0041}b', 'ab', 'tags'],
    ['a\ud83db', 'ab', 'half a character'],
  ])('loses from %j, which becomes %j: %s', (text, left) => {
    expect(withoutControls(text)).toBe(left)
  })

  it.each(['one\n\ttwo\n', 'Grüße, 日本語, עברית\u200f', '👍🏽 👩‍👩‍👧 🏳️‍🌈', 'می\u200cخواهم'])(
    'keeps %j unchanged',
    (text) => {
      expect(withoutControls(text)).toBe(text)
    },
  )
})
