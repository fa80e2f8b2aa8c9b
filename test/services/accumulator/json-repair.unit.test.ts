import { describe, expect, it } from '@jest/globals'
import fc from 'fast-check'
import { repairedObject } from '../../../services/accumulator/json-repair.ts'

const mended = (text: string) => repairedObject(text, 100)

describe('a text that is almost JSON', () => {
  it.each([
    ['a fence', '```json\n{"a":1}\n```', { a: 1 }, ['fence']],
    ['a fence without a language', '```\n{"a":1}```\n', { a: 1 }, ['fence']],
    ['commas before a bracket', '{"a":[1,2, ],}', { a: [1, 2] }, ['trailing-comma']],
    ['single quotes', `{'a':'say "hi", it\\'s'}`, { a: `say "hi", it's` }, ['single-quotes']],
    [
      'words of Python',
      '{"a":True,"b":[False,None]}',
      { a: true, b: [false, null] },
      ['python-word'],
    ],
    [
      'control characters in a text',
      '{"a":"x\ny\tz\u0001"}',
      { a: 'x\ny\tz\u0001' },
      ['control-character'],
    ],
    ['an escaped quote', `{"a":"it\\'s"}`, { a: `it's` }, ['escaped-quote']],
    ['one beside escapes', `{"a":"\\\\ \\" \\' \\n"}`, { a: `\\ " ' \n` }, ['escaped-quote']],
  ])('is repaired: %s', (_, text, value, how) => {
    const found = mended(text)
    expect([found && JSON.parse(found.text), found?.how]).toEqual([value, how])
  })

  it('keeps the contents of its strings: commas, words, quotes, fences, digits of numbers', () => {
    const text = `{"a":"True, }, 'x' \`\`\`", "n":12345678901234567890,}`
    expect(mended(text)?.text).toBe(
      text.replace(',}', '}').replace(', }', ', }').replace('67890,}', '67890}'),
    )
  })

  it.each([
    ['one that is JSON already', '{"a":1}'],
    ['an unfinished text', `{'a':'b`],
    ['an unfinished object', `{'a':'b'`],
    ['an unfinished list', '{"a":[1,'],
    ['an unfinished number', `{'a':1.`],
    ['text after it', `{'a':1}</call>`],
    ['text before it', `Sure: {'a':1}`],
    ['two of them', `{'a':1}{'a':1}`],
    ['no object', `['a',]`],
    ['names without quotes', '{a:1}'],
    ['an apostrophe that ends a text', `{'a':'it's'}`],
    ['ambiguous backslashes', '{"a":"C:\\dir\\new"}'],
    ['a backslash that begins no escape', '{"a":"\\d"}'],
    ['an escape of JavaScript', '{"a":"\\x41"}'],
    ['an escaped line end', '{"a":"x\\\ny"}'],
    ['a slash that Python escapes differently', `{'a':'x\\/y'}`],
    ['such a slash beside a word of Python', '{"a":"x\\/y","b":True}'],
    ['a pair that Python reads as two halves', `{'a':'\\ud83d\\ude00'}`],
    ['numbers that JSON does not have', '{"a":NaN,}'],
    ['two commas', '{"a":1,,}'],
    ['a comma alone', '{,}'],
    ['a comment', '{"a":1, // one\n}'],
    ['a fence around nothing', '```json\n```'],
    ['half a fence', '```json\n{"a":1}'],
  ])('is left alone if it does not spell exactly one object: %s', (_, text) => {
    expect(mended(text)).toBeUndefined()
  })

  it('is left alone if it is nested deeper than allowed', () => {
    expect(repairedObject(`${'{"a":'.repeat(6)}1,${'}'.repeat(6)}`, 5)).toBeUndefined()
  })

  it('keeps its value under any mixture of wrong spellings', () => {
    const python = (value: unknown): string => {
      if (value === null) return 'None'
      if (typeof value === 'boolean') return value ? 'True' : 'False'
      if (typeof value === 'string')
        return `'${JSON.stringify(value).slice(1, -1).replaceAll("'", "\\'").replaceAll('\\"', '"')}'`
      if (Array.isArray(value)) return `[${value.map((item) => `${python(item)},`).join(' ')}]`
      if (typeof value !== 'object') return JSON.stringify(value)
      return `{${Object.entries(value)
        .map(([name, member]) => `${python(name)}: ${python(member)},`)
        .join(' ')}}`
    }
    const anObject = fc.dictionary(fc.string(), fc.jsonValue({ maxDepth: 3 }), {
      minKeys: 1,
      noNullPrototype: true,
    })
    fc.assert(
      fc.property(anObject, (value) => {
        expect(JSON.parse(mended(python(value))?.text ?? '0')).toEqual(
          JSON.parse(JSON.stringify(value)),
        )
      }),
    )
  })

  it('becomes an object or nothing, and no beginning of it becomes one', () => {
    fc.assert(
      fc.property(
        fc.string({
          unit: fc.constantFrom(
            '{',
            '}',
            '[',
            ']',
            '"',
            "'",
            '\\',
            ',',
            ':',
            '1',
            'T',
            'True',
            'n',
            '`',
            '\n',
            ' ',
          ),
        }),
        (text) => {
          const found = mended(text)
          if (found === undefined) return
          expect(JSON.parse(found.text)).toEqual(expect.any(Object))
          for (let end = 0; end < text.trimEnd().length; end += 1)
            expect(mended(text.slice(0, end))).toBeUndefined()
        },
      ),
      { numRuns: 300 },
    )
  })
})
