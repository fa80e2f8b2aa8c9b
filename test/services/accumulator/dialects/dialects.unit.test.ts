// Each dialect as its models write it. The texts are ours. Their forms are those that the parsers
// of vLLM, SGLang, llama.cpp and Ollama accept.

import { describe, expect, it } from '@jest/globals'
import { calls, recovered, why } from './offered.ts'

const search = (query: string, more: Record<string, unknown> = {}) => ['search', { query, ...more }]

const written: Record<string, [string, unknown][]> = {
  hermes: [
    ['<tool_call>\n{"name": "search", "arguments": {"query": "a"}}\n</tool_call>', [search('a')]],
    [
      '<tool_call>{"name":"search","arguments":{"query":"a"}}</tool_call>\n<tool_call>{"name":"now","arguments":{}}</tool_call>',
      [search('a'), ['now', {}]],
    ],
    [
      "<tool_call>\n{'name': 'search', 'arguments': {'query': 'a', 'exact': True}}\n</tool_call>",
      [search('a', { exact: true })],
    ],
  ],
  'function-tag': [
    [
      '<tool_call>\n<function=search>\n<parameter=query>\na\n</parameter>\n<parameter=limit>\n3\n</parameter>\n</function>\n</tool_call>',
      [search('a', { limit: 3 })],
    ],
    [
      '<function=search>\n<parameter=query>\na\n</parameter>\n</function>\n</tool_call>',
      [search('a')],
    ],
    ['<function=search>\n<parameter=query>\na\n</parameter>\n</function>', [search('a')]],
    [
      '<tool_call>\n<function=now>\n</function>\n</tool_call>\n<tool_call>\n<function=now>\n</function>\n</tool_call>',
      [
        ['now', {}],
        ['now', {}],
      ],
    ],
    ['<function=search>{"query": "a"}</function>', [search('a')]],
    [
      '<seed:tool_call>\n<function=search>\n<parameter=query>a</parameter>\n</function>\n</seed:tool_call>',
      [search('a')],
    ],
  ],
  mistral: [
    ['[TOOL_CALLS] [{"name": "search", "arguments": {"query": "a"}}]', [search('a')]],
    [
      '[TOOL_CALLS][{"name": "search", "arguments": {"query": "a"}, "id": "Xy12Xy12X"}, {"name": "now", "arguments": {}}]',
      [search('a'), ['now', {}]],
    ],
    ['[TOOL_CALLS]search{"query": "a"}', [search('a')]],
    ['[TOOL_CALLS]search{"query": "a"}[TOOL_CALLS]now{}', [search('a'), ['now', {}]]],
    ['[TOOL_CALLS]search[CALL_ID]Xy12Xy12X[ARGS]{"query": "a"}', [search('a')]],
    ['[TOOL_CALLS]search[ARGS]{"query": "a"}', [search('a')]],
  ],
  kimi: [
    [
      '<|tool_calls_section_begin|><|tool_call_begin|>functions.search:0<|tool_call_argument_begin|>{"query": "a"}<|tool_call_end|><|tool_calls_section_end|>',
      [search('a')],
    ],
    [
      '<|tool_call_section_begin|>\n<|tool_call_begin|>search:0 <|tool_call_argument_begin|> {"query":"a"} <|tool_call_end|>\n<|tool_call_begin|>functions.now:1<|tool_call_argument_begin|>{}<|tool_call_end|>\n<|tool_call_section_end|>',
      [search('a'), ['now', {}]],
    ],
    [
      '<|tool_call_begin|>functions.now:0<|tool_call_argument_begin|>{}<|tool_call_end|>',
      [['now', {}]],
    ],
  ],
  deepseek: [
    [
      '<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>search\n```json\n{"query": "a"}\n```<｜tool▁call▁end｜><｜tool▁calls▁end｜>',
      [search('a')],
    ],
    [
      '<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>search<｜tool▁sep｜>{"query": "a"}<｜tool▁call▁end｜><｜tool▁call▁begin｜>now<｜tool▁sep｜>{}<｜tool▁call▁end｜><｜tool▁calls▁end｜><｜end▁of▁sentence｜>',
      [search('a'), ['now', {}]],
    ],
    [
      '<|tool_calls_begin|><|tool_call_begin|>search<|tool_sep|>{"query": "a"}<|tool_call_end|><|tool_calls_end|>',
      [search('a')],
    ],
    [
      '<｜tool calls begin｜><｜tool call begin｜>function<｜tool sep｜>search\n```json\n{"query": "a"}\n```<｜tool call end｜><｜tool calls end｜>',
      [search('a')],
    ],
  ],
  glm: [
    [
      '<tool_call>search\n<arg_key>query</arg_key>\n<arg_value>a</arg_value>\n<arg_key>limit</arg_key>\n<arg_value>3</arg_value>\n</tool_call>',
      [search('a', { limit: 3 })],
    ],
    [
      '<tool_call>search<arg_key>query</arg_key><arg_value>a</arg_value></tool_call>',
      [search('a')],
    ],
    ['<tool_call>now\n</tool_call>', [['now', {}]]],
  ],
  'invoke-tag': [
    [
      '<minimax:tool_call>\n<invoke name="search">\n<parameter name="query">a</parameter>\n</invoke>\n<invoke name="now">\n</invoke>\n</minimax:tool_call>',
      [search('a'), ['now', {}]],
    ],
    [
      '<｜DSML｜function_calls>\n<｜DSML｜invoke name="search">\n<｜DSML｜parameter name="query" string="true">5</｜DSML｜parameter>\n<｜DSML｜parameter name="limit" string="false">5</｜DSML｜parameter>\n</｜DSML｜invoke>\n</｜DSML｜function_calls>',
      [search('5', { limit: 5 })],
    ],
    [
      '<function_calls>\n<invoke name="search">\n{"query": "a"}\n</invoke>\n</function_calls>',
      [search('a')],
    ],
  ],
  pythonic: [
    ['[search(query="a", limit=3), now()]', [search('a', { limit: 3 }), ['now', {}]]],
    [
      "[search(query='a', exact=True, note=None, tags=['x'])]",
      [search('a', { exact: true, note: null, tags: ['x'] })],
    ],
    ['<|tool_call_start|>[search(query="a")]<|tool_call_end|>', [search('a')]],
  ],
  gemma: [
    ['<|tool_call>call:search{query:<|"|>a<|"|>,limit:3}<tool_call|>', [search('a', { limit: 3 })]],
    [
      '<|tool_call>call:search{query:<|"|>{"b}, \n\\"c<|"|>,tags:[<|"|>x<|"|>],filter:{deep:{yes:true,no:null}},exact:false}<tool_call|><|tool_call>call:now{}<tool_call|>',
      [
        search('{"b}, \n\\"c', {
          tags: ['x'],
          filter: { deep: { yes: true, no: null } },
          exact: false,
        }),
        ['now', {}],
      ],
    ],
    [
      '<start_function_call>call:search{query:<escape>a<escape>}<end_function_call><start_function_response>',
      [search('a')],
    ],
  ],
  'marked-json': [
    ['<|python_tag|>{"name": "search", "parameters": {"query": "a"}}', [search('a')]],
    [
      '<|python_tag|>{"name": "search", "parameters": {"query": "a"}}; {"name": "now", "parameters": {}}',
      [search('a'), ['now', {}]],
    ],
    ['<|tool_call|>[{"name": "search", "arguments": {"query": "a"}}]', [search('a')]],
    ['functools[{"name": "search", "arguments": {"query": "a"}}]', [search('a')]],
    ['<tool_calls>[{"name": "search", "arguments": {"query": "a"}}]</tool_calls>', [search('a')]],
    [
      '<function_call> {"name": "search", "arguments": {"query": "a"}}<function_call> {"name": "now", "arguments": {}}',
      [search('a'), ['now', {}]],
    ],
    ['<|function_call|>{"name": "search", "arguments": {"query": "a"}}', [search('a')]],
    ['<TOOLCALL>[{"name": "search", "arguments": {"query": "a"}}]</TOOLCALL>', [search('a')]],
    [
      '<|action_start|><|plugin|>{"name": "search", "parameters": {"query": "a"}}<|action_end|>',
      [search('a')],
    ],
  ],
  harmony: [
    [
      '<|start|>assistant to=functions.search<|channel|>commentary json<|message|>{"query":"a"}<|call|>',
      [search('a')],
    ],
    [
      '<|channel|>commentary to=functions.search <|constrain|>json<|message|>{"query":"a"}<|call|>',
      [search('a')],
    ],
    [
      '<|start|>assistant<|channel|>commentary to=functions.search json<|message|>{"query":"a"}',
      [search('a')],
    ],
  ],
  json: [
    ['{"name": "search", "parameters": {"query": "a"}}', [search('a')]],
    [
      '{"name": "search", "parameters": {"query": "a"}}; {"name": "now", "parameters": {}}',
      [search('a'), ['now', {}]],
    ],
  ],
}

const texts = Object.entries(written).flatMap(([dialect, cases]) =>
  cases.map(([text, expected]) => ({ dialect, text, expected })),
)

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

  it('keep every character of a string except the line ends beside its tags', () => {
    const text =
      '<function=file_write>\n<parameter=path>\n a\t</parameter>\n<parameter=content>\n\n<b>"x" \\n</b>\n\n</parameter>\n</function>'
    expect(calls(text)).toEqual([['file_write', { path: ' a\t', content: '\n<b>"x" \\n</b>\n' }]])
  })

  it('are refused if one parameter has two values', () => {
    expect(
      why(
        '<function=search>\n<parameter=query>a</parameter>\n<parameter=query>b</parameter>\n</function>',
      ),
    ).toBe("'search' cannot be called like that: field 'query' is given twice")
  })
})
