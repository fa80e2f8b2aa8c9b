// Families that share a grammar with another one, or that few servers parse. The forms are from the
// chat templates and parsers that the headers of the dialects name.

type Call = [string, unknown]
const search = (query: string, more: Record<string, unknown> = {}): Call => [
  'search',
  { query, ...more },
]
const now: Call = ['now', {}]

const dsml = (bars: string, text: string) => text.replaceAll('DSML', `${bars}DSML${bars}`)
const ns = ']<]minimax[>['
const k3 = {
  call: (tool: string, inside: string, index = 1) =>
    `<|open|>call tool="${tool}" index="${index}"<|sep|>${inside}<|close|>call<|sep|>`,
  argument: (key: string, type: string, value: string) =>
    `<|open|>argument key="${key}" type="${type}"<|sep|>${value}<|close|>argument<|sep|>`,
  tools: (...calls: string[]) => `<|open|>tools<|sep|>${calls.join('')}<|close|>tools<|sep|>`,
}

const plamo = (name: string, json: string) =>
  `<|plamo:begin_tool_request:plamo|><|plamo:begin_tool_name:plamo|>${name}<|plamo:end_tool_name:plamo|><|plamo:begin_tool_arguments:plamo|><|plamo:constrain|>json<|plamo:msg|>${json}<|plamo:end_tool_arguments:plamo|><|plamo:end_tool_request:plamo|>`

const dsmlInvoke =
  '<DSMLinvoke name="search">\n<DSMLparameter name="query" string="true">5</DSMLparameter>\n<DSMLparameter name="limit" string="false">5</DSMLparameter>\n</DSMLinvoke>'
const five = [search('5', { limit: 5 })]

export const families: Record<string, [string, Call[]][]> = {
  'invoke-tag': [
    // MiniMax M2, DeepSeek and Claude without the outer tag
    [
      '<invoke name="search">\n<parameter name="query">a</parameter>\n</invoke>\n<invoke name="now">\n</invoke>',
      [search('a'), now],
    ],
    ['<invoke name="search">{"query": "a"}</invoke>', [search('a')]],
    [
      '<invoke name="search">\n<parameter name="query">a</parameter>\n</invoke>\n</function_calls>',
      [search('a')],
    ],
    ...['｜', '|', '｜｜', '||', '｜｜｜', '‖', ' | '].map((bars): [string, Call[]] => [
      dsml(bars, dsmlInvoke),
      five,
    ]),
    ...['calls', 'tool▁calls', 'tool_use', ' calls'].map((section): [string, Call[]] => [
      dsml('｜', `<DSML${section}>\n${dsmlInvoke}\n</DSML${section}>`),
      five,
    ]),
    // DeepSeek V4.1
    [
      dsml(
        '｜',
        '<DSML calls>\n<DSML invoke name="search">\n{"query": "a"}\n</DSML invoke>\n</DSML calls>',
      ),
      [search('a')],
    ],
    // Claude, Grok, Dots
    [
      `<${'antml'}:function_calls>\n<${'antml'}:invoke name="search">\n<${'antml'}:parameter name="query">a</${'antml'}:parameter>\n</${'antml'}:invoke>\n</${'antml'}:function_calls>`,
      [search('a')],
    ],
    [
      '<xai:function_call name="search">\n<parameter name="query">a</parameter>\n</xai:function_call>',
      [search('a')],
    ],
    [
      '<dots_function_call>\n<invoke name="search">\n<parameter name="query">a</parameter>\n</invoke>\n</dots_function_call>',
      [search('a')],
    ],
    [dsml('｜', `${dsmlInvoke}\n</DSMLtool_calls>`), five],
    [dsml('||', `<DSMLtool_calls>\n${dsmlInvoke}\n</DSMLtool_calls>`), five],
    [dsml('|', `<DSMLfunction_calls>\n${dsmlInvoke}\n</DSMLfunction_calls>`), five],
    // MiniCPM 5
    [
      '<function name="search"><param name="query">a</param><param name="limit">3</param></function>',
      [search('a', { limit: 3 })],
    ],
    [
      '<functionname="search"><paramname="query">a</param><paramname="limit">3</param></function>',
      [search('a', { limit: 3 })],
    ],
    [
      '<function name="search">\n<param name="query"><![CDATA[a < b && "c"\n]]></param>\n</function>\n<function name="now"></function>',
      [search('a < b && "c"\n'), now],
    ],
  ],
  'minimax-m3': [
    [
      `${ns}<tool_call>\n${ns}<invoke name="search">${ns}<query>a </ b${ns}</query>${ns}<limit>3${ns}</limit>${ns}</invoke>\n${ns}</tool_call>`,
      [search('a </ b', { limit: 3 })],
    ],
    [
      `${ns}<tool_call>\n${ns}<invoke name="now">${ns}</invoke>\n${ns}<invoke name="search">${ns}<query>a${ns}</query>${ns}<tags>${ns}<item>x${ns}</item>${ns}<item>y${ns}</item>${ns}</tags>${ns}</invoke>\n${ns}</tool_call>`,
      [now, search('a', { tags: ['x', 'y'] })],
    ],
    [
      `${ns}<tool_call>${ns}<invoke name="plan">${ns}<steps>${ns}<item>${ns}<title>5${ns}</title>${ns}<hours>5${ns}</hours>${ns}</item>${ns}</steps>${ns}<owner>${ns}<item>i${ns}</item>${ns}<id>7${ns}</id>${ns}</owner>${ns}<tags>${ns}</tags>${ns}</invoke>${ns}</tool_call>`,
      [['plan', { steps: [{ title: '5', hours: 5 }], owner: { item: 'i', id: 7 }, tags: [] }]],
    ],
  ],
  'kimi-k3': [
    [
      k3.tools(
        k3.call(
          'search',
          k3.argument('query', 'string', 'a "b"\n') + k3.argument('limit', 'number', '3'),
        ),
        k3.call('now', '', 2),
      ),
      [search('a "b"\n', { limit: 3 }), now],
    ],
    [
      `<|open|>response<|sep|><|close|>response<|sep|>${k3.tools(
        k3.call('search', '<|open|>json type="object"<|sep|>{"query": "a"}<|close|>json<|sep|>'),
      )}<|close|>message<|sep|><|end_of_msg|>`,
      [search('a')],
    ],
    [
      `<|open|>response<|sep|>I look.<|close|>response<|sep|>${k3.tools(
        k3.call(
          'anything',
          k3.argument('a&quot;&amp;b', 'string', '&amp;') +
            k3.argument('n', 'null', 'null') +
            k3.argument('o', 'object', '{"a":[1]}'),
        ),
      )}`,
      [['anything', { 'a"&b': '&amp;', n: null, o: { a: [1] } }]],
    ],
  ],
  glm: [
    // Hy 3
    [
      '<tool_calls>\n<tool_call>search<tool_sep>\n<arg_key>query</arg_key>\n<arg_value>a</arg_value>\n<arg_key>limit</arg_key>\n<arg_value>3</arg_value>\n</tool_call>\n<tool_call>now<tool_sep>\n</tool_call>\n</tool_calls>',
      [search('a', { limit: 3 }), now],
    ],
    ['<tool_calls><tool_call>now<tool_sep></tool_call></tool_calls>', [now]],
    [
      '<tool_calls:6124c78e>\n<tool_call:6124c78e>search<tool_sep:6124c78e>\n<arg_key:6124c78e>query</arg_key:6124c78e>\n<arg_value:6124c78e>a</arg_value:6124c78e>\n</tool_call:6124c78e>\n</tool_calls:6124c78e>',
      [search('a')],
    ],
    // LongCat
    [
      '<longcat_tool_call>search\n<longcat_arg_key>query</longcat_arg_key>\n<longcat_arg_value>a</longcat_arg_value>\n</longcat_tool_call>',
      [search('a')],
    ],
    [
      '<tool_calls:opensource><tool_call:opensource>search<tool_sep:opensource><arg_key:opensource>query</arg_key:opensource><arg_value:opensource>a</arg_value:opensource></tool_call:opensource></tool_calls:opensource>',
      [search('a')],
    ],
  ],
  deepseek: [
    // Step 3
    [
      '<｜tool_calls_begin｜><｜tool_call_begin｜>function<｜tool_sep｜><steptml:invoke name="search"><steptml:parameter name="query">a</steptml:parameter><steptml:parameter name="limit">3</steptml:parameter></steptml:invoke><｜tool_call_end｜><｜tool_calls_end｜>',
      [search('a', { limit: 3 })],
    ],
    [
      '<｜tool_calls_begin｜>\n<｜tool_call_begin｜>function<｜tool_sep｜><steptml:invoke name="search">\n<steptml:parameter name="query">a</steptml:parameter>\n</steptml:invoke><｜tool_call_end｜>\n<｜tool_call_begin｜>function<｜tool_sep｜><steptml:invoke name="now"></steptml:invoke><｜tool_call_end｜>\n<｜tool_calls_end｜>',
      [search('a'), now],
    ],
  ],
  pythonic: [
    // Llama 4
    [
      '<|python_start|>[search(query="a", limit=3), now()]<|python_end|>',
      [search('a', { limit: 3 }), now],
    ],
    ['<|python_start|>[search(query="a")]<|python_end|><|eot|>', [search('a')]],
    // MiniCPM 3
    [
      '<|tool_call_start|>\n```python\nsearch(query="a")\nnow()\n```\n<|tool_call_end|>',
      [search('a'), now],
    ],
    // Gorilla OpenFunctions
    ['<<function>>[search(query="a")]', [search('a')]],
    // Olmo 3
    [
      '<function_calls>\nsearch(query="a", exact=true, note=null)\nnow()\n</function_calls>',
      [search('a', { exact: true, note: null }), now],
    ],
    ['<function_calls>search(query="a")</function_calls>', [search('a')]],
    // Gemma 3
    ['```tool_code\nsearch(query="a", limit=3)\n```', [search('a', { limit: 3 })]],
    ['```tool_code\nprint(default_api.search(query="a"))\nprint(now())\n```', [search('a'), now]],
    ['```tool_code\n[default_api.search(query="a"), default_api.now()]\n```', [search('a'), now]],
    ['<tool_code>\nprint(search(query="a"))\n</tool_code>', [search('a')]],
  ],
  'marked-json': [
    // Command A and R7B
    [
      '<|START_ACTION|>[\n    {"tool_call_id": "0", "tool_name": "search", "parameters": {"query": "a"}},\n    {"tool_call_id": "1", "tool_name": "now", "parameters": {}}\n]<|END_ACTION|>',
      [search('a'), now],
    ],
    [
      '<|START_ACTION|>[{"tool_call_id": "0", "tool_name": "now", "parameters": {}}]<|END_ACTION|><|END_OF_TURN_TOKEN|>',
      [now],
    ],
    // Apertus
    [
      '<|tools_prefix|>[{"search": {"query": "a"}}, {"now": {}}]<|tools_suffix|>',
      [search('a'), now],
    ],
    // GigaChat 3
    ['function call<|role_sep|>\n{"name": "search", "arguments": {"query": "a"}}', [search('a')]],
    [
      '<|message_sep|>\n\nfunction call<|role_sep|>\n{"name": "search", "arguments": {"query": "a"}}<|message_sep|>',
      [search('a')],
    ],
    // LFM2 with JSON
    [
      '<|tool_call_start|>[{"name": "search", "arguments": {"query": "a"}}, {"name": "now", "arguments": {}, "id": "c1"}]<|tool_call_end|>',
      [search('a'), now],
    ],
    ['<|tool_call_start|>{"name": "now", "arguments": {}}<|tool_call_end|>', [now]],
    // Phi-4-mini
    ['<|tool_call|>{"name": "search", "arguments": {"query": "a"}}<|/tool_call|>', [search('a')]],
    [
      '<|tool_call|>[{"name": "search", "arguments": {"query": "a"}}]<|/tool_call|><|tool_call|>{"name": "now", "arguments": {}}<|/tool_call|><|end|>',
      [search('a'), now],
    ],
    // several objects in one tag
    [
      '<tool_calls>\n{"name": "search", "arguments": {"query": "a"}}\n{"name": "now", "arguments": {}}\n</tool_calls>',
      [search('a'), now],
    ],
    [
      '<tool_calls>{"name": "now", "arguments": {}} {"name": "now", "arguments": {}}\n{"name": "search", "arguments": {"query": "a"}}</tool_calls>',
      [now, now, search('a')],
    ],
    [
      '<tool_calls>\n{"name": "now", "arguments": {}},\n{"name": "now", "arguments": {}}\n</tool_calls>',
      [now, now],
    ],
    // usual shapes in the frames of others
    ['<|START_ACTION|>{"name": "now", "parameters": {}}<|END_ACTION|>', [now]],
    ['<|tools_prefix|>[{"name": "now", "arguments": {}}]<|tools_suffix|>', [now]],
    // Pangu, LM Studio, HyperCLOVA X
    ['[unused11][{"name": "search", "arguments": {"query": "a"}}][unused12]', [search('a')]],
    [
      '[TOOL_REQUEST]\n{"name": "search", "arguments": {"query": "a"}}\n[END_TOOL_REQUEST]',
      [search('a')],
    ],
    ['[TOOL_CALL]{"name": "now", "arguments": {}}[/TOOL_CALL]', [now]],
    [
      ' -> tool/function_call\n[{"name": "search", "arguments": {"query": "a"}}]<|im_end|>',
      [search('a')],
    ],
    // Llama 4 with JSON
    [
      '<|python_start|>{"name": "search", "parameters": {"query": "a"}}<|python_end|>',
      [search('a')],
    ],
  ],
  hermes: [
    [
      '<dots_function_call>\n{"name": "search", "arguments": {"query": "a"}}\n</dots_function_call>',
      [search('a')],
    ],
    [
      '<tool_call>\n{"name": "search", "arguments": {"query": "a"}}\n{"name": "now", "arguments": {}}\n</tool_call>',
      [search('a'), now],
    ],
  ],
  'solar-open': [
    [
      '<|tool_calls|><|tool_call:begin|>b462b4f8<|tool_call:name|>search<|tool_call:args|>{"query":"a"}<|tool_call:end|><|tool_call:begin|>c<|tool_call:name|>now<|tool_call:args|>{}<|tool_call:end|><|calls|>',
      [search('a'), now],
    ],
  ],
  plamo: [
    [
      `<|plamo:begin_tool_requests:plamo|>${plamo('search', '{"query": "a"}')}${plamo('now', '{}')}<|plamo:end_tool_requests:plamo|>`,
      [search('a'), now],
    ],
  ],
  inkling: [
    [
      '<|message_model|>search<|content_invoke_tool_json|>{"name":"search","args":{"query":"a"}}<|end_message|><|message_model|>now<|content_invoke_tool_json|>{"name":"now","args":{}}<|end_message|><|content_model_end_sampling|>',
      [search('a'), now],
    ],
  ],
  functionary: [
    [
      '<|from|>assistant\n<|recipient|>search\n<|content|>{"query": "a"}<|stop|>\n<|from|>assistant\n<|recipient|>now\n<|content|>{}<|stop|>',
      [search('a'), now],
    ],
    ['>>>search\n{"query": "a"}\n>>>now\n{}', [search('a'), now]],
  ],
  'qwen-agent': [['✿FUNCTION✿: search\n✿ARGS✿: {"query": "a"}\n✿RESULT✿', [search('a')]]],
  harmony: [
    // two calls
    [
      '<|channel|>commentary to=functions.search <|constrain|>json<|message|>{"query":"a"}<|call|><|start|>assistant<|channel|>commentary to=functions.now <|constrain|>json<|message|>{}<|call|>',
      [search('a'), now],
    ],
    [
      '<|channel|>commentary to=functions.search json<|message|>{"query":"a"}<|start|>assistant to=functions.now<|channel|>commentary json<|message|>{}',
      [search('a'), now],
    ],
    [
      '<|channel|>commentary to=functions.now<|message|>{}<|end|><|start|>assistant<|channel|>commentary to=functions.now<|message|>{}<|call|>',
      [now, now],
    ],
    // a preamble, and thinking between the messages
    [
      '<|channel|>commentary<|message|>I look, with {"query"}.<|end|><|start|>assistant<|channel|>commentary to=functions.search <|constrain|>json<|message|>{"query":"a"}<|call|>',
      [search('a')],
    ],
    [
      '<|start|>assistant<|channel|>commentary<|message|>**Plan**<|end|><|start|>assistant<|channel|>analysis<|message|>hm<|end|><|start|>assistant<|channel|>commentary to=functions.now<|message|>{}<|call|>',
      [now],
    ],
  ],
}
