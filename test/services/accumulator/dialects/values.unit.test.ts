// The exact text of a parameter: only Qwen3-Coder's template puts values on separate lines.

import { describe, expect, it } from '@jest/globals'
import { calls, why } from './offered.ts'

const ns = ']<]minimax[>['

/** Each family with a parameter `query` that has this text. */
const forms: Record<string, (value: string) => string> = {
  'Seed-OSS': (value) =>
    `<seed:tool_call>\n<function=search>\n<parameter=query>${value}</parameter>\n</function>\n</seed:tool_call>`,
  'MiniMax M2': (value) =>
    `<minimax:tool_call>\n<invoke name="search">\n<parameter name="query">${value}</parameter>\n</invoke>\n</minimax:tool_call>`,
  Claude: (value) =>
    `<function_calls>\n<invoke name="search">\n<parameter name="query">${value}</parameter>\n</invoke>\n</function_calls>`,
  'a bare invocation': (value) =>
    `<invoke name="search">\n<parameter name="query">${value}</parameter>\n</invoke>`,
  DSML: (value) =>
    `<｜DSML｜function_calls>\n<｜DSML｜invoke name="search">\n<｜DSML｜parameter name="query" string="true">${value}</｜DSML｜parameter>\n</｜DSML｜invoke>\n</｜DSML｜function_calls>`,
  'MiniCPM 5': (value) => `<function name="search"><param name="query">${value}</param></function>`,
  'MiniCPM 5 with CDATA': (value) =>
    `<function name="search"><param name="query"><![CDATA[${value}]]></param></function>`,
  'Step 3': (value) =>
    `<｜tool_calls_begin｜><｜tool_call_begin｜>function<｜tool_sep｜><steptml:invoke name="search"><steptml:parameter name="query">${value}</steptml:parameter></steptml:invoke><｜tool_call_end｜><｜tool_calls_end｜>`,
  GLM: (value) =>
    `<tool_call>search\n<arg_key>query</arg_key>\n<arg_value>${value}</arg_value>\n</tool_call>`,
  'Hy 3': (value) =>
    `<tool_calls>\n<tool_call>search<tool_sep>\n<arg_key>query</arg_key>\n<arg_value>${value}</arg_value>\n</tool_call>\n</tool_calls>`,
  'MiniMax M3': (value) =>
    `${ns}<tool_call>\n${ns}<invoke name="search">${ns}<query>${value}${ns}</query>${ns}</invoke>\n${ns}</tool_call>`,
  'Kimi K3': (value) =>
    `<|open|>tools<|sep|><|open|>call tool="search" index="1"<|sep|><|open|>argument key="query" type="string"<|sep|>${value}<|close|>argument<|sep|><|close|>call<|sep|><|close|>tools<|sep|>`,
}

const qwen = (value: string) =>
  calls(`<function=search>\n<parameter=query>${value}</parameter>\n</function>`)?.[0]?.[1]

describe('the text of a parameter', () => {
  it.each(Object.entries(forms))('keeps every line end and blank: %s', (_, written) => {
    for (const value of ['a', '\na\n', '\na', 'a\n', '\r\na\r\n', ' a\t', '\n', '', '\n\n'])
      expect(calls(written(value))).toEqual([['search', { query: value }]])
  })

  it.each([
    ['\na\n', 'a'],
    ['\r\na\r\n', 'a'],
    ['\n\na\n\n', '\na\n'],
    ['\n\n', ''],
    ['a', 'a'],
    ['\na', '\na'],
    ['a\n', 'a\n'],
    ['a\r\n', 'a\r\n'],
    ['\n', '\n'],
    ['', ''],
  ])('loses its first and last line end together in the tags of Qwen3-Coder: %j', (value, kept) =>
    expect(qwen(value)).toEqual({ query: kept }),
  )

  it('may be a number or an object with line ends around it in every family', () => {
    const written =
      '<invoke name="search"><parameter name="query">a</parameter><parameter name="limit">\n3\n</parameter></invoke>'
    expect(calls(written)).toEqual([['search', { query: 'a', limit: 3 }]])
  })
})

describe('a value with two readings', () => {
  it.each([
    [
      'an entity outside CDATA',
      '<function name="search"><param name="query">a &lt; b</param></function>',
      /tag 'function'/,
    ],
    [
      'a damaged tag of DSML, with the beginning of the next one',
      '<｜DSML｜invoke name="search"><｜DSML｜parameter name="query" string="true">5</｜DSML｜parametermeter name="limit" string="false">5</｜DSML｜parameter></｜DSML｜invoke>',
      /tag '｜DSML｜invoke'/,
    ],
    [
      'a damaged tag of Step 3',
      '<｜tool_calls_begin｜><｜tool_call_begin｜>function<｜tool_sep｜><steptml:invoke name="search"><steptml:parameter name="query">a</steptml:parametename="limit">3</steptml:parameter></steptml:invoke><｜tool_call_end｜><｜tool_calls_end｜>',
      /a call between its marks/,
    ],
    [
      'a text of CDATA that goes on behind it',
      '<function name="search"><param name="query"><![CDATA[a]]> b</param></function>',
      /tag 'function'/,
    ],
    [
      'CDATA that ends twice',
      '<function name="search"><param name="query"><![CDATA[a]]></para>b]]></param></function>',
      /tag 'function'/,
    ],
    [
      'JSON that cannot be read, where the frame says JSON',
      '<｜DSML｜function_calls><｜DSML｜invoke name="anything"><｜DSML｜parameter name="x" string="false">abc</｜DSML｜parameter></｜DSML｜invoke></｜DSML｜function_calls>',
      /^'anything' cannot be called like that: field 'x'/,
    ],
    [
      'a number of Kimi K3 that is none',
      '<|open|>tools<|sep|><|open|>call tool="anything" index="1"<|sep|><|open|>argument key="x" type="number"<|sep|>abc<|close|>argument<|sep|><|close|>call<|sep|><|close|>tools<|sep|>',
      /field 'x'/,
    ],
    [
      'a list or an object with the member `item`, where the schema names neither',
      `${ns}<tool_call>${ns}<invoke name="plan">${ns}<any>${ns}<item>a${ns}</item>${ns}</any>${ns}</invoke>${ns}</tool_call>`,
      /field 'any'/,
    ],
    [
      'text beside tags',
      `${ns}<tool_call>${ns}<invoke name="plan">${ns}<any>x${ns}<a>a${ns}</a>${ns}</any>${ns}</invoke>${ns}</tool_call>`,
      /MiniMax|invoke/,
    ],
    [
      'a member that is given twice inside an object',
      `${ns}<tool_call>${ns}<invoke name="plan">${ns}<owner>${ns}<id>1${ns}</id>${ns}<id>2${ns}</id>${ns}</owner>${ns}</invoke>${ns}</tool_call>`,
      /given twice/,
    ],
  ])('runs nothing: %s', (_, text, reason) => {
    expect(calls(text)).toBeUndefined()
    expect(why(text)).toMatch(reason)
  })
})

describe('advice about a frame', () => {
  it('names the syntax of Olmo 3, not the tags of another family', () => {
    expect(why('<function_calls>\nsearch("a")\n</function_calls>')).toBe(
      'a call in this form must have a name for each argument and literals as values',
    )
    expect(why('<function_calls>\nnow()\nsearch(query=q)\n</function_calls>')).toBe(
      'a call in this form must have a name for each argument and literals as values',
    )
    expect(why('<function_calls>\n<invoke name="now">\n</function_calls>')).toBe(
      "'<function_calls>' must hold calls in the tag 'invoke', each with its parameters, all of them closed, and nothing else",
    )
  })
})

describe('a value whose schema allows a text and an object', () => {
  const branches = [{ type: 'string' }, { type: 'object' }]
  const schemas: Record<string, unknown> = {
    'a list of types': { type: ['object', 'string'] },
    anyOf: { anyOf: branches.toReversed() },
    oneOf: { oneOf: branches },
    'no type': {},
  }
  const json = '{"a": 1}'
  const spelled: Record<string, string> = {
    ...Object.fromEntries(Object.entries(forms).map(([name, written]) => [name, written(json)])),
    'Qwen3-Coder': `<function=search>\n<parameter=query>${json}</parameter>\n</function>`,
    JSON: JSON.stringify({ name: 'search', arguments: { query: json } }),
    Python: `[search(query='${json}')]`,
  }

  it.each(
    Object.entries(schemas).flatMap(([of, query]) =>
      Object.entries(spelled).map(([name, text]) => ({ of, query, name, text })),
    ),
  )('stays a text that nothing marks as JSON, in each dialect: $name, $of', ({ query, text }) => {
    const schema = JSON.stringify({ type: 'object', properties: { query } })
    expect(calls(text, [{ name: 'search', schema }])).toEqual([['search', { query: json }]])
  })
})
