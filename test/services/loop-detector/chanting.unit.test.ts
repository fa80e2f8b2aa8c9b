// What counts as one response that repeats itself, and what is only long, listed, or code.

import { describe, expect, it } from '@jest/globals'
import { chantIn } from '../../../services/loop-detector/rules/chanting.ts'

describe('a response chants', () => {
  it.each([
    ['one sentence', 'I will look at it now. '.repeat(12), 'I will look at it now.', 12],
    ['a line', 'Checking the next file\n'.repeat(10), 'Checking the next file', 10],
    [
      'two sentences in turns',
      'Let me see the file. Then I will edit it. '.repeat(11),
      'Let me see the file. Then I will edit it.',
      11,
    ],
    ['a single word', 'wait '.repeat(60), 'wait', 60],
    ['a script without blanks', '我来看看文件。'.repeat(12), '我 来 看 看 文 件 。', 12],
  ])('%s', (_, text, unit, times) => {
    const found = chantIn(text)
    expect(found?.times).toBe(times)
    expect([...(found?.unit ?? '')].sort()).toEqual([...unit].sort()) // a run may begin in the middle of its unit
  })

  it('one emoji in a row that is longer than any word, and no grid of them', () => {
    expect(chantIn('😂'.repeat(400))).toEqual({ unit: '😂', times: 400 })
    expect(chantIn('😂'.repeat(199))).toBeUndefined()
    expect(chantIn(`${'a b c d '.repeat(200)}${'😂'.repeat(200)}`)?.unit).not.toBe('😂')
    expect(chantIn(`${'⬛'.repeat(60)}\n`.repeat(20))).toBeUndefined()
  })

  it('also where something else was said first', () => {
    expect(
      chantIn(
        `The build failed because a header is missing.\n${'So I will install it. '.repeat(20)}`,
      )?.times,
    ).toBe(20)
  })

  it('also where the length limit cut the last one', () => {
    expect(chantIn(`${'I should read the log first. '.repeat(15)}I should re`)?.times).toBe(15)
  })
})

const unitOf = (words: number) =>
  Array.from({ length: words }, (_, index) => `word${index}`).join(' ')
const repeated = (unit: string, times: number) => `${unit} `.repeat(times)

describe('the bounds', () => {
  it.each([
    ['ten times a unit of eleven words', repeated(unitOf(11), 10), 10],
    ['nine times a unit of eleven words', repeated(unitOf(11), 9), undefined],
    ['five times a unit of twelve words', repeated(unitOf(12), 5), 5],
    ['four times a unit of twelve words', repeated(unitOf(12), 4), undefined],
    ['forty words', repeated('wait', 40), 40],
    ['thirty-nine words', repeated('wait', 39), undefined],
    ['five times a unit of two hundred words', repeated(unitOf(200), 5), 5],
  ])('%s', (_, text, times) => {
    expect(chantIn(text)?.times).toBe(times)
  })
})

describe('a response does not chant', () => {
  it.each([
    ['a short refrain', 'ha '.repeat(20)],
    ['nine times the same', 'I will look at it now and then. '.repeat(9)],
    [
      'a code block of equal lines',
      `Here it is:\n\`\`\`\n${'print("x")\n'.repeat(80)}\`\`\`\nDone.`,
    ],
    ['a table of equal rows', `| host | state |\n${'| a | ok |\n'.repeat(60)}`],
    ['rules and numbers', '--- 0 '.repeat(60)],
    [
      'a list of lines that differ',
      Array.from({ length: 60 }, (_, index) => `Host ${index} is up and healthy.`).join('\n'),
    ],
    [
      'a repeat within a long answer',
      `${'x '.repeat(45)}${Array.from({ length: 200 }, (_, index) => `word${index}`).join(' ')}`,
    ],
  ])('%s', (_, text) => {
    expect(chantIn(text)).toBeUndefined()
  })
})
