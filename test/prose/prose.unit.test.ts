import { describe, expect, it } from '@jest/globals'
import { faultsIn, ratesOf } from './prose.ts'

const rulesOf = (text: string, file = 'page.md') => faultsIn(file, text).map(({ rule }) => rule)
const words = (count: number) => `Word${' word'.repeat(count - 1)}.`

describe('the prose lint', () => {
  it.each([
    ['The parser drops what was cut.', 'no clause with "what" as subject or object'],
    ['What was cut is dropped.', 'no clause with "what" as subject or object'],
    ['It keeps whatever arrives.', 'no clause with "whatever"'],
    ['Who finds none waits.', 'no clause with "who" as subject or object'],
    ['A row is kept for who reads it.', 'no clause with "who" as subject or object'],
    ['Whoever reads it waits.', 'no clause with "whoever"'],
    ['It waits, else it stops.', 'use "otherwise" for "else"'],
    ['The executor hears of it.', 'banned word: hears'],
    ['The reader wished to stop.', 'banned word: wished'],
    ['The response said that it was over.', 'banned word: said'],
    ['The log says so.', 'banned word: says so'],
    ['The user is told.', 'banned word: told'],
    ['The gateway is asked again.', 'banned word: asked'],
    ['The owner took the call.', 'banned word: took'],
    ['Its word of the end comes late.', 'banned word: Its word of'],
    ['The fate of a call is open.', 'banned word: fate'],
    ['One complaint is logged.', 'banned word: complaint'],
    ['Then giveUp runs.', 'banned word: giveUp'],
    ['Then letGo runs.', 'banned word: letGo'],
    ['It waits in vain.', 'banned word: in vain'],
    ['It has a lock of its own.', 'banned word: of its own'],
    ['It is stored as it came.', 'banned word: as it came'],
    ['One; two; three.', 'at most one semicolon a paragraph'],
    [
      'It keeps its key, its lock and its name.',
      'name the thing again: at most 3 times it, its and one a sentence',
    ],
    [words(31), 'at most 30 words a sentence, here 31'],
  ])('finds the fault in: %s', (sentence, rule) => {
    expect(rulesOf(sentence)).toEqual([rule])
    expect(rulesOf(`// ${sentence}`, 'source.ts')).toEqual([rule])
    expect(rulesOf(`/** ${sentence} */`, 'source.ts')).toEqual([rule])
  })

  it.each([
    'A what-if replays a turn with other settings.',
    'What is Weir?',
    'The message is `what was said`, and "who took it".',
    'It shows what it would have done, and the user who approved it.',
    'The list shows how long it took.',
    'Nothing else runs, and nobody else waits.',
    'The first clause ends; the second begins.',
    'The whole is somewhat late.',
    `${words(30)} ${words(30)}`,
    `It ends at a number, as 0.2.0 does, e.g. here. ${words(30)}`,
  ])('finds no fault in: %s', (text) => {
    expect(rulesOf(text)).toEqual([])
    expect(rulesOf(`// ${text}`, 'source.ts')).toEqual([])
  })

  it('counts a code span as one word', () => {
    expect(rulesOf(`${words(29).slice(0, -1)} \`${words(30)}\`.`)).toEqual([])
  })

  it('reads each list item, heading and table cell as a paragraph', () => {
    const items =
      '# One; title\n\n- One; two.\n- Three; four,\n  and five.\n\n| a; b | c; d |\n|---|---|\n'
    expect(rulesOf(items)).toEqual([])
    expect(rulesOf(`| a | ${words(31)} |`)).toEqual(['at most 30 words a sentence, here 31'])
  })

  it('skips code blocks and front matter', () => {
    expect(rulesOf('---\nabout: what was said\n---\n\nText.\n')).toEqual([])
    expect(rulesOf('Text.\n\n    what was said\n\n```\nwhat was said\n```\n')).toEqual([])
    expect(rulesOf('Text.\n\n```\ncode\n```\n\nWhat was said.').length).toBe(2)
  })

  it('finds "behind" and "beside" as places, and leaves a server behind a proxy', () => {
    const rule = 'use "after" or "next to" for "behind" and "beside"'
    expect(rulesOf('The offset behind the record.')).toEqual([rule])
    expect(rulesOf('A field beside the text.')).toEqual([rule])
    expect(rulesOf('Weir runs behind a reverse proxy, and a reader falls behind.')).toEqual([])
  })

  it('reports the line and the sentence of a fault, also after a line break', () => {
    expect(faultsIn('page.md', 'First line.\nSecond sentence,\nfor who reads.')).toEqual([
      {
        file: 'page.md',
        line: 2,
        kind: 'markdown',
        rule: 'no clause with "who" as subject or object',
        sentence: 'Second sentence, for who reads.',
      },
    ])
  })

  it('joins neighbouring line comments and reads no code, string or directive', () => {
    const source = `${[
      '// A sentence that goes on',
      '// in the next line; and here.',
      "const what = 'what was said' // biome-ignore lint/a/b: a reason",
      'const text = `// what was told`',
    ].join('\n')}\n`
    expect(faultsIn('source.ts', source)).toEqual([])
  })

  it('reads the titles of tests, also of tables', () => {
    const source =
      "describe('a', () => { it.each([1])('is told %s', () => {}); test(`took it`, f) })"
    expect(faultsIn('a.unit.test.ts', source).map(({ kind, rule }) => [kind, rule])).toEqual([
      ['title', 'banned word: told'],
      ['title', 'banned word: took'],
    ])
  })

  it('finds nested uses of "of" on a page', () => {
    const rule = 'at most one "of" in a noun phrase'
    expect(rulesOf('The calls of tools of a client wait.')).toEqual([rule])
    expect(rulesOf("The client's tool calls wait, two of three in front of the queue.")).toEqual([])
  })

  it('counts it, its, one and of per 1,000 words, outside code and shares of a number', () => {
    const text = `It has one of its parts. \`it of\` 16 of 16. ${words(9)}\n`
    expect(ratesOf('page.md', text)).toEqual({ words: 19, it: 157.9, of: 52.6 })
  })
})
