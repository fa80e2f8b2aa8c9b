// The expectations were written before the first run. `offered.ts` has the tools.

import { describe, expect, it } from '@jest/globals'
import { echoSource } from '../../../services/accumulator/echo.ts'
import { offered } from './dialects/offered.ts'

const call = '{"name": "search", "arguments": {"query": "weir > dam", "limit": 3}}'
const asPython = '[search(query="weir > dam", limit=3)]'
const asTag =
  '<tool_call>\n<function=search>\n<parameter=query>\nweir > dam\n</parameter>\n<parameter=limit>\n3\n</parameter>\n</function>\n</tool_call>'
const other = '{"name": "now", "arguments": {}}'

const echo = (text: string, ...before: string[]) =>
  echoSource(
    { text, offered, callsAsText: false },
    before.map((one, n) => ({ source: `text ${n}`, text: one })),
  )

describe('a call in text whose text stands in an earlier text', () => {
  it.each<[string, string, string]>([
    ['as it is', call, call],
    ['between other texts', call, `Please print this: ${call} Thank you.`],
    ['with other blanks', call, call.replaceAll(': ', ' :\n\t').replaceAll(', ', ',\n')],
    ['with other quotes', call, call.replaceAll('"', "'")],
    ['with typographic quotes', call, call.replaceAll('"', '“')],
    ['with a comma at the end', call, call.replace('3}', '3,}')],
    [
      'with its members in another order',
      call,
      '{"arguments":{"limit":3,"query":"weir > dam"},"name":"search"}',
    ],
    ['with data beside it', call, `{"id":7,"a":[${call}],"b":null}`],
    ['in a fence', call, `Look:\n\`\`\`json\n${call}\n\`\`\`\nThat is it.`],
    ['in a fence now', `\`\`\`json\n${call}\n\`\`\``, `Look: ${call}`],
    ['in a JSON text', call, JSON.stringify({ content: `Look: ${call}` })],
    ['in a JSON text in a JSON text', call, JSON.stringify({ a: JSON.stringify({ b: call }) })],
    [
      'in a JSON text, in another order',
      call,
      JSON.stringify({ a: '{"arguments":{"limit":3,"query":"weir > dam"},"name":"search"}' }),
    ],
    ['in HTML', call, `<p>${call.replaceAll('"', '&quot;').replaceAll('>', '&gt;')}</p>`],
    ['with escapes', call, call.replace('>', '\\u003e')],
    ['with blanks of no width', call, call.replace('search', 'sea\u200brch')],
    [
      'with line numbers',
      JSON.stringify(JSON.parse(call), null, 2),
      JSON.stringify(JSON.parse(call), null, 2)
        .split('\n')
        .map((line, n) => `${n + 1}\t${line}`)
        .join('\n'),
    ],
    ['as a quote', call, `> ${call.replace(', "arg', ',\n> "arg')}`],
    ['in a diff', call, `+ ${call.replace(', "arg', ',\n+ "arg')}`],
    ['in tags', call, `<tool_call>${call}</tool_call>`],
    ['in tags now', `<tool_call>${call}</tool_call>`, call],
    [
      'in the shape of a message',
      call,
      JSON.stringify({
        tool_calls: [
          { id: 'a', function: { name: 'search', arguments: '{"query":"weir > dam","limit":3}' } },
        ],
      }),
    ],
    ['in another shape', call, '{"tool_name":"search","input":{"limit":3,"query":"weir > dam"}}'],
    ['in the flat form', call, '{"tool":"search","query":"weir > dam","limit":3}'],
    ['in Python', asPython, `Call ${asPython}.`],
    ['in Python, without the brackets', asPython, 'Call search(query="weir > dam", limit=3).'],
    ['in Python, and now as JSON', call, `Calls look like this:\n${asPython}\nThat is all.`],
    ['as tags of functions', asTag, `It wrote:\n${asTag}\nThat is all.`],
    ['as tags of functions, and now as JSON', call, `It wrote:\n\n${asTag}\n\nThat is all.`],
    ['as tags in a line, and now as JSON', call, `It wrote ${asTag.replaceAll('\n', '')} there`],
    ['as Python in a line, and now as JSON', call, `Use \`${asPython}\` for it`],
    ['beside another call', `[${call}, ${other}]`, `Run ${call}`],
    ['behind thinking', `<think>I do it.</think>${call}`, call],
    ['before the end of a turn', `${call}<|im_end|>`, call],
    ['in the second text', call, call],
  ])('is an echo: %s', (_, text, before) => {
    expect(echo(text, before)).toBe('text 0')
    expect(echo(text, 'Good morning', before)).toBe('text 1')
  })

  it('without arguments is an echo only of a call', () => {
    expect(echo(other, `Run ${other}`)).toBe('text 0')
    expect(echo(other, '{"name":"now","input":{}}')).toBe('text 0')
    expect(echo(other, 'Do it now')).toBeNull()
    expect(echo(other, '{"name":"now","version":"1","dependencies":{}}')).toBeNull()
    expect(echo('[now()]', 'Use now() for the time')).toBeNull()
  })
})

describe('a call in text is no echo', () => {
  it.each<[string, string]>([
    ['of its words', 'Please search for "weir > dam" with a limit of 3'],
    ['of its arguments', '{"query": "weir > dam", "limit": 3}'],
    ['of other arguments', call.replace('3', '4')],
    ['of a part of its arguments', '{"name":"search","arguments":{"query":"weir > dam"}}'],
    [
      'of more arguments',
      '{"name":"search","arguments":{"query":"weir > dam","limit":3,"exact":true}}',
    ],
    ['of another tool', call.replace('search', 'find')],
    ['of its tool in a list', '{"tools":[{"name":"search","description":"finds"}]}'],
    ['of an empty text', ''],
    ['of a text of other things', 'Weirs hold back water. {"a": [1, 2]}'],
  ])('%s', (_, before) => expect(echo(call, before)).toBeNull())

  it('if it is no call', () => {
    const text = `I run ${call}`
    expect(echo(text, text)).toBeNull()
  })
})

it('an earlier text with too much to search is an echo, because nobody can know', () => {
  const words = 'search, query, weir, dam, limit'
  const brackets = `${'{"a":'.repeat(60)}${'"b",'.repeat(20)}`
  expect(echo(call, words + brackets.repeat(300))).toBe('text 0')
  expect(echo(call, words + brackets.repeat(3))).toBeNull()
  expect(echo(call, brackets.repeat(300))).toBeNull()
})
