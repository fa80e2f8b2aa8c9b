// Calls as the models of each dialect write them. The texts are ours. Their forms are those that the
// parsers of vLLM, SGLang, llama.cpp and Ollama accept.

import { families } from './written-families.ts'

export const search = (query: string, more: Record<string, unknown> = {}) => [
  'search',
  { query, ...more },
]

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

/** `expected`: the calls as [name, arguments]. */
export const texts = [...Object.entries(written), ...Object.entries(families)].flatMap(
  ([dialect, cases]) =>
    cases.map(([text, expected]) => ({ dialect, text, expected: expected as [string, unknown][] })),
)
