// Each dialect as its models write it, and texts that only look like it.

import { describe, expect, it } from '@jest/globals'
import { calls, recovered, why } from './offered.ts'
import { search, texts } from './written.ts'

describe('every dialect', () => {
  it.each(texts)('$dialect: $text', ({ dialect, text, expected }) => {
    expect(calls(text)).toEqual(expected)
    expect(recovered(text)).toMatchObject({ dialect })
  })

  it.each(texts)(
    '$dialect finds no call in prose, in a quote, or in a fence with prose around it: $text',
    ({ text }) => {
      for (const quoted of [
        `See:\n${text}`,
        `${text}\nThat is how it is written.`,
        `> ${text}`,
        `Look:\n\`\`\`\n${text}\n\`\`\`\nLike this.`,
        `"${text}"`,
        `- ${text}`,
      ])
        expect(recovered(quoted)).toBeUndefined()
    },
  )

  it.each(texts)(
    '$dialect runs only whole calls of a text that was cut: $text',
    ({ text, expected }) => {
      for (let end = 0; end < text.length; end += 1) {
        const part = calls(text.slice(0, end)) ?? []
        expect((expected as unknown[]).slice(0, part.length)).toEqual(part)
      }
    },
  )

  it.each(texts)('$dialect never calls a tool that was not offered: $text', ({ text }) => {
    const others = [{ name: 'other', schema: '{"type":"object"}' }]
    expect(calls(text, others)).toBeUndefined()
  })
})

describe('the mark with which a model ends its turn', () => {
  const call = '{"name":"search","arguments":{"query":"</s>"}}'

  it.each([
    '<|im_end|>',
    '<|eot_id|>',
    '<|eom_id|>',
    '<|endoftext|>',
    '<|return|>',
    '<end_of_turn>',
    '<turn|>',
    '<｜end▁of▁sentence｜>',
    '</s>',
  ])('is not part of the text: %s', (mark) => {
    for (const text of [call, `<tool_call>${call}</tool_call>`, `\`\`\`json\n${call}\n\`\`\``])
      expect(calls(`${text}\n${mark}\n`)).toEqual([search('</s>')])
    expect(recovered(`It is over.${mark}`)).toBeUndefined()
    expect(recovered(mark)).toBeUndefined()
  })

  it('ends the text: calls on both sides of it are no calls', () => {
    expect(recovered(`${call}<|im_end|>${call}`)).toBeUndefined()
  })
})

describe('frames that are used only for calls', () => {
  it.each([
    [
      'a tool that was not offered',
      '<tool_call>{"name":"gone","arguments":{}}</tool_call>',
      "there is no tool 'gone'",
    ],
    [
      'broken JSON',
      '<tool_call>{"name":"now","arguments":{}</tool_call>',
      "what stands after '<tool_call>' is not valid JSON",
    ],
    [
      'a missing mark',
      '<tool_call>{"name":"now","arguments":{}}',
      "'</tool_call>' is missing after the JSON",
    ],
    [
      'a parameter that is not closed',
      '<function=search>\n<parameter=query>\na\n</function>',
      "a call in the tag 'function' must hold its parameters, each in a tag of its own that is closed, and nothing else",
    ],
    [
      'a parameter that swallows the next one',
      '<function=search>\n<parameter=query>\na\n<parameter=limit>\n3\n</parameter>\n</function>',
      "a call in the tag 'function' must hold its parameters, each in a tag of its own that is closed, and nothing else",
    ],
    [
      'an invocation with a parameter that swallows the next one',
      '<function_calls><invoke name="search"><parameter name="query">a<parameter name="note">b</parameter></invoke></function_calls>',
      "'<function_calls>' must hold calls in the tag 'invoke', each with its parameters, all of them closed, and nothing else",
    ],
    [
      'a value that swallows the next one',
      '<tool_call>search<arg_key>query</arg_key><arg_value>a<arg_key>note</arg_key><arg_value>b</arg_value></tool_call>',
      "a call must be its name and then its arguments, each an 'arg_key' and an 'arg_value' that are closed",
    ],
    [
      'a text without its marks',
      '<|tool_call>call:search{query:a}<tool_call|>',
      "a call between its marks must be 'call:', a tool's name and its arguments in braces",
    ],
    [
      'arguments that cannot be typed',
      '<function=search>\n<parameter=query>a</parameter>\n<parameter=limit>three</parameter>\n</function>',
      "'search' cannot be called like that: field 'limit' must be integer",
    ],
    [
      'a section without an end',
      '<|tool_calls_section_begin|><|tool_call_begin|>functions.now:0<|tool_call_argument_begin|>{}<|tool_call_end|>',
      "'<|tool_calls_section_end|>' is missing after the calls",
    ],
    [
      'more calls than one response may have',
      '[TOOL_CALLS]now{}'.repeat(257),
      'it has 257 calls, and at most 256 are taken',
    ],
    [
      'arguments without names',
      '[search("a")]',
      'a call in this form must have a name for each argument and literals as values',
    ],
  ])('with %s run nothing, and the model learns the reason', (_, text, reason) =>
    expect(why(text)).toBe(reason),
  )

  it.each([
    [
      'a sentence about the mark',
      '<tool_call> is the tag in which Hermes calls a tool such as search.',
    ],
    [
      'two examples with a word between them',
      '<tool_call>{"name":"now","arguments":{}}</tool_call>\nor\n<tool_call>{"name":"now","arguments":{}}</tool_call>',
    ],
    [
      'an example in a fence, of a tool that is not offered',
      '```xml\n<tool_call>{"name":"get_weather","arguments":{}}</tool_call>\n```',
    ],
    ['a link', '[now](http://example.org)'],
    ["a list of Python's that calls nothing", '[now, search]'],
    ['Python that calls something else', '[len(a), now()].sort()'],
    ['a module of Python', 'functools.reduce(now, [1])'],
  ])('stay text in %s', (_, text) => expect(recovered(text)).toBeUndefined())
})

describe('texts without a type', () => {
  const tagged = (name: string, value: string) =>
    calls(
      `<function=search>\n<parameter=query>q</parameter>\n<parameter=${name}>\n${value}\n</parameter>\n</function>`,
    )?.[0]?.[1]

  it.each([
    ['a string, although it reads like a number', 'query2', '5', undefined],
    ['an integer', 'limit', '5', 5],
    ['a boolean, also in Python syntax', 'exact', 'True', true],
    ['an array', 'tags', '["x", "y"]', ['x', 'y']],
    ['an object', 'filter', '{"a": 1}', { a: 1 }],
    ['null where the schema allows it', 'note', 'null', null],
    ['a string where it allows both', 'note', '5', '5'],
    ['a word of an enumeration', 'level', 'low', 'low'],
    ['a number through anyOf', 'size', '1.5', 1.5],
    ['a number through a reference', 'ratio', '0.25', 0.25],
  ])('become %s', (_, name, value, expected) =>
    expect(tagged(name, value)).toEqual(
      expected === undefined ? undefined : { query: 'q', [name]: expected },
    ),
  )

  it('keep every character of a string except a line end next to both of its tags', () => {
    const text =
      '<function=file_write>\n<parameter=path>\n a\t</parameter>\n<parameter=content>\n\n<b>"x" \\n</b>\n\n</parameter>\n</function>'
    expect(calls(text)).toEqual([['file_write', { path: '\n a\t', content: '\n<b>"x" \\n</b>\n' }]])
  })

  it('are refused if one parameter has two values', () => {
    expect(
      why(
        '<function=search>\n<parameter=query>a</parameter>\n<parameter=query>b</parameter>\n</function>',
      ),
    ).toBe("'search' cannot be called like that: field 'query' is given twice")
  })
})
