// Texts that were written after the dialects, with their expectations before the first run: other
// blanks, other characters, code as values, and documents that resemble calls.

import { describe, expect, it } from '@jest/globals'
import { calls, recovered } from './offered.ts'

const ns = ']<]minimax[>['
const code = 'def f(x):\n\tif x < 3 and x > 1:\n\t\treturn "é \\n" + \'</p>\'\n'
const write = (content: string) => ['file_write', { path: 'a/b.py', content }]
const search = (query: string, more: Record<string, unknown> = {}) => ['search', { query, ...more }]
const k3 = (inside: string) => `<|open|>tools<|sep|>${inside}<|close|>tools<|sep|>`

const right: Record<string, [string, unknown[]]> = {
  'DSML with indents and code': [
    `<｜DSML｜function_calls>\n    <｜DSML｜invoke name="file_write">\n    <｜DSML｜parameter name="path" string="true">a/b.py</｜DSML｜parameter>\n    <｜DSML｜parameter name="content" string="true">${code}</｜DSML｜parameter>\n    </｜DSML｜invoke>\n</｜DSML｜function_calls>`,
    [write(code)],
  ],
  'DSML with a JSON body': [
    '<|DSML|invoke name="search">\n{\n  "query": "日本",\n  "limit": 2\n}\n</|DSML|invoke>',
    [search('日本', { limit: 2 })],
  ],
  'DSML with a list and a boolean': [
    '<｜｜DSML｜｜tool_calls><｜｜DSML｜｜invoke name="search"><｜｜DSML｜｜parameter name="query" string="true">true</｜｜DSML｜｜parameter><｜｜DSML｜｜parameter name="exact" string="false">true</｜｜DSML｜｜parameter><｜｜DSML｜｜parameter name="tags" string="false">["a","b"]</｜｜DSML｜｜parameter></｜｜DSML｜｜invoke></｜｜DSML｜｜tool_calls>',
    [search('true', { exact: true, tags: ['a', 'b'] })],
  ],
  'a bare invocation with code': [
    `<invoke name="file_write">\r\n<parameter name="path">a/b.py</parameter>\r\n<parameter name="content">${code}</parameter>\r\n</invoke>`,
    [write(code)],
  ],
  'three bare invocations': [
    '<invoke name="now"></invoke><invoke name="now"></invoke>\n\n<invoke name="now">\n</invoke>',
    [
      ['now', {}],
      ['now', {}],
      ['now', {}],
    ],
  ],
  'bare invocations of MiniMax with the end of its section': [
    '<invoke name="search"><parameter name="query">x</parameter></invoke>\n</minimax:tool_call>[e~[',
    [search('x')],
  ],
  'MiniCPM with code in CDATA': [
    `<function name="file_write"><param name="path">a/b.py</param><param name="content"><![CDATA[${code}]]></param></function>`,
    [write(code)],
  ],
  'MiniCPM with a list': [
    '<function name="search"><param name="query">a & b</param><param name="tags">["x"]</param></function>',
    [search('a & b', { tags: ['x'] })],
  ],
  'MiniMax M3 with code': [
    `${ns}<tool_call>\n${ns}<invoke name="file_write">${ns}<path>a/b.py${ns}</path>${ns}<content>${code}${ns}</content>${ns}</invoke>\n${ns}</tool_call>[e~[`,
    [write(code)],
  ],
  'MiniMax M3 with a boolean, null and an object': [
    `${ns}<invoke name="search">${ns}<query>null${ns}</query>${ns}<exact>false${ns}</exact>${ns}<note>null${ns}</note>${ns}<filter>${ns}<lang>en${ns}</lang>${ns}</filter>${ns}</invoke>`,
    [search('null', { exact: false, note: null, filter: { lang: 'en' } })],
  ],
  'MiniMax M3 with one element and with empty parts': [
    `<tool_call>\n${ns}<invoke name="plan">${ns}<tags>${ns}<item>one${ns}</item>${ns}</tags>${ns}<steps>${ns}</steps>${ns}<owner>${ns}</owner>${ns}<any>${ns}<a>1${ns}</a>${ns}</any>${ns}</invoke>${ns}</tool_call>`,
    [['plan', { tags: ['one'], steps: [], owner: {}, any: { a: '1' } }]],
  ],
  'Kimi K3 with code': [
    k3(
      `<|open|>call tool="file_write" index="1"<|sep|><|open|>argument key="path" type="string"<|sep|>a/b.py<|close|>argument<|sep|><|open|>argument key="content" type="string"<|sep|>${code}<|close|>argument<|sep|><|close|>call<|sep|>`,
    ),
    [write(code)],
  ],
  'Kimi K3 with line ends between its tags': [
    k3(
      '\n<|open|>call tool="search" index="1"<|sep|>\n<|open|>argument key="query" type="string"<|sep|>x<|close|>argument<|sep|>\n<|open|>argument key="tags" type="array"<|sep|>["a"]<|close|>argument<|sep|>\n<|close|>call<|sep|>\n',
    ),
    [search('x', { tags: ['a'] })],
  ],
  'Hy 3 with code': [
    `<tool_calls>\n<tool_call>file_write<tool_sep>\n<arg_key>path</arg_key>\n<arg_value>a/b.py</arg_value>\n<arg_key>content</arg_key>\n<arg_value>${code}</arg_value>\n</tool_call>\n</tool_calls>`,
    [write(code)],
  ],
  'Step 3 with ASCII bars': [
    '<|tool_calls_begin|><|tool_call_begin|>function<|tool_sep|><steptml:invoke name="search"><steptml:parameter name="query">x</steptml:parameter></steptml:invoke><|tool_call_end|><|tool_calls_end|>',
    [search('x')],
  ],
  'Llama 4 with single quotes': [
    "<|python_start|>[search(query='a b', tags=['x', 'y'])]<|python_end|>",
    [search('a b', { tags: ['x', 'y'] })],
  ],
  'Olmo 3 with blank lines and an object': [
    '<function_calls>\n\n  search(query="a", filter={"k": [1, 2]})\n\n  now()\n</function_calls>',
    [search('a', { filter: { k: [1, 2] } }), ['now', {}]],
  ],
  'Gemma with a line end inside of a call': [
    '```tool_code\nprint(default_api.search(\n    query="a",\n    limit=3\n))\n```',
    [search('a', { limit: 3 })],
  ],
  'Command with nested parameters': [
    '<|START_ACTION|>[\n    {"tool_call_id": "0", "tool_name": "search", "parameters": {"query": "a", "filter": {"tool_name": "x"}}}\n]<|END_ACTION|>',
    [search('a', { filter: { tool_name: 'x' } })],
  ],
  'Apertus with a tool that is named like a member': [
    '<|tools_prefix|>[{"search": {"query": "name", "filter": {"arguments": {}}}}]<|tools_suffix|>',
    [search('name', { filter: { arguments: {} } })],
  ],
  'GigaChat 3.0 with blanks': [
    'function call<|role_sep|>\n\n{"name": "now", "arguments": {}}\n<|message_sep|>\n\n',
    [['now', {}]],
  ],
  'LFM2 with JSON of several lines': [
    '<|tool_call_start|>[\n  {"name": "search", "arguments": {"query": "a"}}\n]<|tool_call_end|><|im_end|>',
    [search('a')],
  ],
  'Phi-4-mini with blanks': [
    '<|tool_call|>\n{"name": "now", "arguments": {}}\n<|/tool_call|><|end|>',
    [['now', {}]],
  ],
  'objects in one tag with the wrapper of the API': [
    '<tool_calls>\n{"type": "function", "function": {"name": "now", "arguments": "{}"}}\n{"type": "function", "function": {"name": "search", "arguments": "{\\"query\\": \\"a\\"}"}}\n</tool_calls>',
    [['now', {}], search('a')],
  ],
  'mixed DSML marks': [
    '<｜DSML｜invoke name="search"><|DSML|parameter name="query">a</|DSML|parameter></｜DSML｜invoke>',
    [search('a')],
  ],
  'three calls of harmony with thinking before each': [
    '<|channel|>analysis<|message|>1<|end|><|start|>assistant<|channel|>commentary to=functions.now <|constrain|>json<|message|>{}<|call|><|start|>assistant<|channel|>analysis<|message|>2<|end|><|start|>assistant<|channel|>commentary to=functions.now <|constrain|>json<|message|>{}<|call|>',
    [
      ['now', {}],
      ['now', {}],
    ],
  ],
}

/** `reason`: the model gets a reason. `text`: the text stays as it is. */
const wrong: Record<string, [string, 'reason' | 'text']> = {
  'an unknown tool in a special frame': [
    '<|START_ACTION|>[{"tool_name": "gone", "parameters": {}}]<|END_ACTION|>',
    'reason',
  ],
  'an unknown tool in a plain tag': ['<invoke name="gone"></invoke>', 'text'],
  'an unknown tool of MiniCPM': [
    '<function name="gone"><param name="a">1</param></function>',
    'text',
  ],
  'an unknown argument': [
    '<invoke name="now"><parameter name="zone">UTC</parameter></invoke>',
    'reason',
  ],
  'positional arguments of Olmo': ['<function_calls>\nsearch("a")\n</function_calls>', 'reason'],
  'a name as a value': ['```tool_code\nsearch(query=topic)\n```', 'reason'],
  'a call as a value': ['```tool_code\nprint(search(query=str(now())))\n```', 'reason'],
  'two calls in one line': ['<function_calls>\nnow() now()\n</function_calls>', 'reason'],
  'a value with a mark of DSML in another spelling': [
    '<｜DSML｜invoke name="search"><｜DSML｜parameter name="query">a </|| DSML|| parameter> b</｜DSML｜parameter></｜DSML｜invoke>',
    'reason',
  ],
  'a section that does not end': [
    `${ns}<tool_call>\n${ns}<invoke name="now">${ns}</invoke>`,
    'reason',
  ],
  'a type that Kimi K3 does not state': [
    k3(
      '<|open|>call tool="search" index="1"<|sep|><|open|>argument key="query"<|sep|>a<|close|>argument<|sep|><|close|>call<|sep|>',
    ),
    'reason',
  ],
  'an empty list of calls': ['<|tools_prefix|>[]<|tools_suffix|>', 'text'],
  'a table with a call': ['| call | result |\n|---|---|\n| now() | 5 |', 'text'],
  'a shell session': ['$ search --query a\n[search(1)]', 'text'],
  'a changelog': ['- <invoke name="search"> is recognized\n- [now()](docs) too', 'text'],
  'XML with a root': [
    '<functions><function name="search"><param name="query">a</param></function></functions>',
    'text',
  ],
  'HTML with thinking before it': ['<p>search</p>\n<think>now()</think>', 'text'],
  'a schema of a tool': [
    '<function name="search"><param name="query" type="string"/></function>',
    'text',
  ],
  'a quoted frame in Markdown': ['`<function_calls>now()</function_calls>`', 'text'],
}

describe('texts of a second corpus', () => {
  it.each(Object.entries(right))('are calls: %s', (_, [text, expected]) =>
    expect(calls(text)).toEqual(expected),
  )

  it.each(Object.entries(wrong))('are no calls: %s', (_, [text, outcome]) => {
    const recovery = recovered(text)
    expect(recovery?.kind ?? 'text').toBe(outcome === 'reason' ? 'lookalike' : 'text')
  })
})
