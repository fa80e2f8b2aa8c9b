// Texts that resemble the calls of a family and are none. Each of them names an offered tool.

import { describe, expect, it } from '@jest/globals'
import { recover } from '../../../../services/accumulator/dialects/recover.ts'
import { offered, recovered } from './offered.ts'

const ns = ']<]minimax[>['

const lookalikes: Record<string, string[]> = {
  'a bare call in Python': [
    'search(query="a")',
    'now()',
    'print(search(query="a"))',
    'default_api.search(query="a")',
    'search(query="a")\nnow()',
    '(search(query="a"))',
    'await search(query="a")',
    '```python\nsearch(query="a")\n```',
    '```\nsearch(query="a")\n```',
    '```tool_code\nresult = search(query="a")\nprint(result)\n```',
    '```tool_code\nimport os\nsearch(query="a")\n```',
    '```tool_code\nfor q in [1]: search(query="a")\n```',
  ],
  'a step of ReAct': [
    'Thought: I need it.\nAction: search\nAction Input: {"query": "a"}',
    'Action: search\nAction Input: {"query": "a"}',
    'Action: search[a]',
    'Action:\n```json\n{"action": "search", "action_input": {"query": "a"}}\n```',
    '{"action": "search", "action_input": {"query": "a"}}',
  ],
  'a tag named after the tool': [
    '<search><query>a</query></search>',
    '<search query="a"/>',
    '<now/>',
    '<now></now>',
    '<tool name="search"><query>a</query></tool>',
    '<tool_use><search><query>a</query></search></tool_use>',
  ],
  'a call without its marks': [
    'functions.search:0{"query": "a"}',
    'search\n{"query": "a"}',
    'search{"query": "a"}',
    'call:search{query:a}',
    'function search {"query": "a"}',
    'assistantcommentary to=functions.search json{"query": "a"}',
    'commentary to=functions.search json {"query": "a"}',
    'to=functions.search {"query": "a"}',
    'invoke name="search"\nparameter name="query" a',
    'DSMLinvoke name="search"',
    'search\nquery\na',
    'tool_call name="search" {"query": "a"}',
    '[search]{"query": "a"}',
    'function call\n{"name": "search", "arguments": {"query": "a"}}',
  ],
  'a shape of JSON outside its frame': [
    '[{"search": {"query": "a"}}]',
    '{"search": {"query": "a"}}',
    '{"now": {}}',
    '[{"tool_call_id": "0", "tool_name": "search", "parameters": {"query": "a"}}]',
    '{"tool_name": "search", "parameters": {"query": "a"}}',
  ],
  'XML that is no call': [
    '<function name="search" params="query"/>',
    '<function name="search"><return-value type="int"/></function>',
    '<function name="search"><arguments><param name="query">a</param></arguments></function>',
    '<param name="search">The tool that runs.</param>',
    '<invoke name="search" partnerLink="p" operation="o"/>',
    '<invoke name="search"/>',
    '<invoke name="search">The element that calls.</invoke>',
    '<invoke method="search"><arg value="a"/></invoke>',
    '<target name="now"><echo/></target>',
  ],
  'a document about a family': [
    '<invoke name="search"> is how the tag begins, and </invoke> ends it.',
    '<|START_ACTION|> begins the calls of Command, such as search.',
    '<|tools_prefix|> and <|tools_suffix|> surround search.',
    '<|python_start|> precedes [search(query="a")] in Llama 4.',
    '<|python_start|>[search(query="a")]<|python_end|> is a call.',
    '<|open|>tools<|sep|> opens the channel of search.',
    `${ns}<tool_call> is the mark of MiniMax, as in search.`,
    '<tool_calls>\n<tool_call>search<tool_sep>\n</tool_call>\n</tool_calls>\nThat is Hy 3.',
    '<function_calls>\nsearch(query="a")\n</function_calls>\nThat is Olmo.',
    '<tool_code> holds print(search(query="a")).',
    '<|channel|>commentary<|message|>I run search.<|end|>',
    '<|channel|>commentary<|message|>{"name": "search", "arguments": {"query": "a"}}<|end|>',
    '<|channel|>commentary<|message|>now<|end|><|start|>assistant<|channel|>final<|message|>search',
    '<|open|>response<|sep|>search<|close|>response<|sep|>',
    '<|open|>response<|sep|>{"name": "now", "arguments": {}}<|close|>response<|sep|>',
  ],
  'a call and an answer behind it': [
    '<|channel|>commentary to=functions.now<|message|>{}<|call|><|start|>assistant<|channel|>final<|message|>Done.',
    '<|START_ACTION|>[{"tool_name": "now", "parameters": {}}]<|END_ACTION|><|START_RESPONSE|>Done.<|END_RESPONSE|>',
    `<|open|>tools<|sep|><|open|>call tool="now" index="1"<|sep|><|close|>call<|sep|><|close|>tools<|sep|>Done.`,
    '<invoke name="now"></invoke>\nDone.',
    '```tool_code\nnow()\n```\n```tool_output\n5\n```',
  ],
}

describe('texts that stay text', () => {
  it.each(Object.entries(lookalikes).flatMap(([kind, all]) => all.map((text) => [kind, text])))(
    '%s: %s',
    (_, text) => expect(recovered(text)).toBeUndefined(),
  )

  it('never run where the model must write its calls as text, or where the text was cut', () => {
    for (const text of Object.values(lookalikes).flat())
      for (const more of [{ callsAsText: true }, { cut: 'it was cut' }])
        expect(recover({ text, offered, ...more })?.kind).not.toBe('calls')
  })
})
