// A response that repeats itself, and responses that are only long, lists, or code.

import { describe, expect, it } from '@jest/globals'
import { givenBy } from '../../../apps/replay/judge/overrides.ts'
import type { Step } from '../../../apps/replay/judge/scenario.ts'
import { judge } from '../../../apps/replay/judge/verdict.ts'
import { chantIn } from '../../../services/loop-detector/rules/chanting.ts'

describe('a response chants with', () => {
  it.each([
    ['one sentence', 'I will look at it now. '.repeat(12), 'I will look at it now.', 12],
    ['a line', 'Checking the next file\n'.repeat(10), 'Checking the next file', 10],
    [
      'two alternating sentences',
      'Let me see the file. Then I will edit it. '.repeat(11),
      'Let me see the file. Then I will edit it.',
      11,
    ],
    ['a single word', 'wait '.repeat(60), 'wait', 60],
    ['a script without blanks', '我来看看文件。'.repeat(12), '我 来 看 看 文 件 。', 12],
  ])('%s', (_, text, unit, times) => {
    const found = chantIn(text)
    expect(found?.times).toBe(times)
    // a run may begin inside its unit
    expect([...(found?.unit ?? '')].sort()).toEqual([...unit].sort())
  })

  it('one emoji in a row longer than any word, not in a grid', () => {
    expect(chantIn('😂'.repeat(400))).toEqual({ unit: '😂', times: 400 })
    expect(chantIn('😂'.repeat(199))).toBeUndefined()
    expect(chantIn(`${'a b c d '.repeat(200)}${'😂'.repeat(200)}`)?.unit).not.toBe('😂')
    expect(chantIn(`${'⬛'.repeat(60)}\n`.repeat(20))).toBeUndefined()
  })

  it('an introduction before the repeats', () => {
    expect(
      chantIn(
        `The build failed because a header is missing.\n${'So I will install it. '.repeat(20)}`,
      )?.times,
    ).toBe(20)
  })

  it('a last repeat that the length limit cut', () => {
    expect(chantIn(`${'I should read the log first. '.repeat(15)}I should re`)?.times).toBe(15)
  })
})

const unitOf = (words: number) =>
  Array.from({ length: words }, (_, index) => `word${index}`).join(' ')
const repeated = (unit: string, times: number) => `${unit} `.repeat(times)

describe('words without blanks still chant with', () => {
  it.each([
    ['a laugh', 'ha'.repeat(300)],
    ['a name', 'Hello'.repeat(100)],
    ['a scream', 'a'.repeat(400)],
    ['a sentence with two blanks', 'I look now.  Then I edit it.  '.repeat(20)],
    ['a sentence with commas', 'First, I look, then I edit, and I test.\n'.repeat(12)],
  ])('%s', (_, text) => {
    expect(chantIn(text)).toBeDefined()
  })
})

describe('rows that a tool returned in this turn', () => {
  const ruleOf = (results: string[], answer: string) => {
    const steps = results.map((result, n): Step => {
      return {
        kind: 'tool',
        tool: 'read_file',
        args: { path: `${n}` },
        outcome: 'ok',
        result,
      }
    })
    return judge({ id: 'a', steps: [...steps, { kind: 'text', text: answer }] }, givenBy([])).rule
  }
  const line = 'host a is up and healthy\n'

  it.each<[string, string[], string]>([
    ['line by line', [line.repeat(30)], line.repeat(30)],
    ['in a list', [line.repeat(30)], `- ${line}`.repeat(30)],
    ['from JSON', [JSON.stringify({ text: line.repeat(30) })], line.repeat(30)],
    [
      'from a list of JSON',
      [JSON.stringify(Array.from({ length: 30 }, () => line.trim()))],
      line.repeat(30),
    ],
    ['from two results', [line.repeat(20), `x\n${line.repeat(20)}`], line.repeat(40)],
    ['after other text', [`${unitOf(300)}\n${line.repeat(30)}${unitOf(50)}`], line.repeat(30)],
  ])('may be repeated in the answer: %s', (_, results, answer) => {
    expect(ruleOf(results, answer)).toBeNull()
    expect(ruleOf(['nothing'], answer)).toBe('chanting@4')
  })

  it('may not be repeated more often than the tool returned them', () => {
    expect(ruleOf([line.repeat(30)], line.repeat(40))).toBe('chanting@4')
  })
})

describe('the bounds of a chant', () => {
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

describe('a response does not chant with', () => {
  it.each([
    ['a short refrain', 'ha '.repeat(20)],
    ['nine repeats', 'I will look at it now and then. '.repeat(9)],
    [
      'a code block of equal lines',
      `Here it is:\n\`\`\`\n${'print("x")\n'.repeat(80)}\`\`\`\nDone.`,
    ],
    ['a table of equal rows', `| host | state |\n${'| a | ok |\n'.repeat(60)}`],
    ['rules and numbers', '--- 0 '.repeat(60)],
    ['equal rows with bars inside', `host | state\n${'a | ok\n'.repeat(60)}`],
    ['equal rows with tabs', `host\tstate\n${'a\tok\n'.repeat(60)}`],
    ['equal rows in columns', `host   state\n${'a      ok\n'.repeat(60)}`],
    ['equal rows with commas', `host,state,ms\n${'a,ok,12\n'.repeat(60)}`],
    ['equal rows with semicolons', `host;state;ms\n${'a;ok;12\n'.repeat(60)}`],
    ['equal rows of HTML', `<table>\n${'<tr><td>a</td><td>ok</td></tr>\n'.repeat(60)}</table>`],
    ['equal rows in a box', `┌──┐\n${'│ a │ ok │\n'.repeat(60)}└──┘`],
    ['Base64 of zeros', `Here is the file:\n${'A'.repeat(400)}==`],
    ['Base64 in lines', `Here is the file:\n${`${'A'.repeat(76)}\n`.repeat(60)}`],
    ['Base64 with a head', `iVBORw0KGgo${'AAAA'.repeat(100)}=`],
    ['a data address', `data:image/png;base64,${'AAAAB3NzaC1yc2E'.repeat(40)}`],
    ['hexadecimal data', '0000ffff'.repeat(60)],
    ['equal digests', `${'d41d8cd98f00b204e9800998ecf8427e  '.trim()}\n`.repeat(60)],
    [
      'a list of different lines',
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
