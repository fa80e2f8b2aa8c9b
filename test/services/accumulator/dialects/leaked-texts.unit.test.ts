// Texts that servers and relays of 2026 leaked into answers. Their forms are from public reports. The
// expectations were written earlier than the code that reads them. Four of them were changed to
// `reported` afterwards: they expected a call after prose to run.

import { expect, it } from '@jest/globals'
import {
  answerIn,
  type OfferedTool,
  recover,
} from '../../../../services/accumulator/dialects/recover.ts'
import { unrunnable } from '../../../../services/accumulator/dialects/unrunnable.ts'

const tool = (
  name: string,
  properties: Record<string, unknown>,
  required: string[],
): OfferedTool => ({
  name,
  schema: JSON.stringify({ type: 'object', properties, required }),
})
const text = { type: 'string' }
const whole = { type: 'integer' }
const offered = [
  tool('bash', { command: text }, ['command']),
  tool('read', { path: text, start_line: whole, end_line: whole }, ['path']),
  tool('write', { path: text, content: text }, ['path', 'content']),
  tool('weather', { city: text, days: whole }, ['city']),
  tool('search', { query: text, tags: { type: 'array', items: text } }, ['query']),
]

/** The calls that run. Without calls: `reported` to the model, or `text`. */
function outcomeOf(written: string): unknown {
  const recovery = recover({ text: answerIn(written), offered })
  if (recovery?.kind === 'calls')
    return recovery.calls.map(({ name, raw }) => [name, JSON.parse(raw)])
  return recovery !== undefined || unrunnable(written, offered) !== undefined ? 'reported' : 'text'
}

const ls = [['bash', { command: 'ls -la' }]]

it.each<[string, string, unknown]>([
  [
    'dsml double wide bars',
    '<｜｜DSML｜｜tool_calls>\n<｜｜DSML｜｜invoke name="bash">\n<｜｜DSML｜｜parameter name="command" string="true">ls -la</｜｜DSML｜｜parameter>\n</｜｜DSML｜｜invoke>\n</｜｜DSML｜｜tool_calls>',
    ls,
  ],
  [
    'dsml blank and `calls`',
    '<｜｜DSML｜｜ calls>\n<｜｜DSML｜｜ invoke name="bash">\n<｜｜DSML｜｜ parameter name="command" string="true">ls -la</｜｜DSML｜｜ parameter>\n</｜｜DSML｜｜ invoke>\n</｜｜DSML｜｜ calls>',
    ls,
  ],
  [
    'dsml double-line bar ‖',
    '<‖DSML‖tool_calls>\n<‖DSML‖invoke name="bash">\n<‖DSML‖parameter name="command" string="true">ls -la</‖DSML‖parameter>\n</‖DSML‖invoke>\n</‖DSML‖tool_calls>',
    ls,
  ],
  [
    'dsml ascii bars, function_calls',
    '<|DSML|function_calls>\n<|DSML|invoke name="bash">\n<|DSML|parameter name="command" string="true">ls -la</|DSML|parameter>\n</|DSML|invoke>\n</|DSML|function_calls>',
    ls,
  ],
  ['dsml residue of the opening mark', 'Let me check.\n\n<｜DSML｜function_calls', 'reported'],
  [
    'dsml bare invoke',
    '<｜DSML｜invoke name="bash">\n<｜DSML｜parameter name="command" string="true">ls -la</｜DSML｜parameter>\n</｜DSML｜invoke>',
    ls,
  ],
  [
    'dsml unterminated section',
    '<｜DSML｜tool_calls>\n<｜DSML｜invoke name="bash">\n<｜DSML｜parameter name="command" string="true">ls -la</｜DSML｜parameter>\n</｜DSML｜invoke>',
    'reported',
  ],
  [
    'dsml parameter as self-closing invoke',
    '<｜｜DSML｜｜tool_calls>\n<｜｜DSML｜｜invoke name="bash">\n<｜｜DSML｜｜invoke name="command" string="ls -la" />\n</｜｜DSML｜｜invoke>\n</｜｜DSML｜｜tool_calls>',
    'reported',
  ],
  [
    'dsml smart quotes',
    '<｜｜DSML｜｜tool_calls>\n<｜｜DSML｜｜invoke name=“bash”>\n<｜｜DSML｜｜parameter name=“command” string=“true”>ls -la</｜｜DSML｜｜parameter>\n</｜｜DSML｜｜invoke>\n</｜｜DSML｜｜tool_calls>',
    'reported',
  ],
  [
    'element style with dsml closers',
    '<function>\n<name>bash</name>\n<parameter name="command" string="true">ls -la</｜｜DSML｜｜parameter>\n</｜｜DSML｜｜invoke>\n</｜｜DSML｜｜tool_calls>',
    'reported',
  ],
  [
    'dsml after end of thinking',
    'Let me write the final analysis now.<｜end▁of▁thinking｜>\n\n<｜｜DSML｜｜tool_calls>\n<｜｜DSML｜｜invoke name="write">\n<｜｜DSML｜｜parameter name="content" string="true"># Title\n\n日期: 2026-07-13\n</｜｜DSML｜｜parameter>\n<｜｜DSML｜｜parameter name="path" string="true">a.md</｜｜DSML｜｜parameter>\n</｜｜DSML｜｜invoke>\n</｜｜DSML｜｜tool_calls>',
    'reported',
  ],
  [
    'dsml argument with </think>',
    '<｜DSML｜tool_calls>\n<｜DSML｜invoke name="bash">\n<｜DSML｜parameter name="command" string="true">grep -c "</think>" log.txt</｜DSML｜parameter>\n</｜DSML｜invoke>\n</｜DSML｜tool_calls>',
    [['bash', { command: 'grep -c "</think>" log.txt' }]],
  ],
  [
    'dsml typed values',
    '<｜DSML｜tool_calls>\n<｜DSML｜invoke name="weather">\n<｜DSML｜parameter name="city" string="true">Tokyo</｜DSML｜parameter>\n<｜DSML｜parameter name="days" string="false">3</｜DSML｜parameter>\n</｜DSML｜invoke>\n</｜DSML｜tool_calls>',
    [['weather', { city: 'Tokyo', days: 3 }]],
  ],
  [
    'dsml on the line of the prose',
    'I look at the folder first.<｜DSML｜tool_calls><｜DSML｜invoke name="bash"><｜DSML｜parameter name="command" string="true">ls -la</｜DSML｜parameter></｜DSML｜invoke></｜DSML｜tool_calls>',
    'reported',
  ],
  [
    'kimi k3 whole',
    '<|close|>think<|sep|><|open|>response<|sep|>On it.<|close|>response<|sep|><|open|>tools<|sep|><|open|>call tool="weather" index="1"<|sep|><|open|>argument key="city" type="string"<|sep|>Seoul<|close|>argument<|sep|><|open|>argument key="days" type="number"<|sep|>2<|close|>argument<|sep|><|close|>call<|sep|><|close|>tools<|sep|><|close|>message<|sep|>',
    [['weather', { city: 'Seoul', days: 2 }]],
  ],
  [
    'kimi k3 tools only, two calls',
    '<|open|>tools<|sep|><|open|>call tool="read" index="1"<|sep|><|open|>argument key="path" type="string"<|sep|>a.txt<|close|>argument<|sep|><|close|>call<|sep|><|open|>call tool="read" index="2"<|sep|><|open|>argument key="path" type="string"<|sep|>b.txt<|close|>argument<|sep|><|close|>call<|sep|><|close|>tools<|sep|>',
    [
      ['read', { path: 'a.txt' }],
      ['read', { path: 'b.txt' }],
    ],
  ],
  [
    'kimi k3 mangled by a relay',
    '<|open|>toolscall tool="read" index="1"<|sep|><|open|>argument key="path" type="string"<|sep|>src/rendererargument<|sep|><|close|>call<|sep|><|close|>toolstoolsmessage<|sep|>',
    'reported',
  ],
  ['kimi k3 cut', 'I list it.\n<|open|>tools<|sep|><|open|>call tool="bash" ls -la', 'reported'],
  [
    'kimi k2 on the line of the prose',
    'I will list the files. <|tool_calls_section_begin|><|tool_call_begin|>functions.bash:0<|tool_call_argument_begin|>{"command": "ls -la"}<|tool_call_end|><|tool_calls_section_end|>',
    'reported',
  ],
  [
    'kimi k2 without its beginning',
    'bash:0<|tool_call_argument_begin|>{"command": "ls -la"}<|tool_calls_section_end|>',
    'reported',
  ],
  [
    'minimax m3',
    'Let me read that part.]<]minimax[>[<tool_call>\n]<]minimax[>[<invoke name="read">]<]minimax[>[<path>src/main.rs]<]minimax[>[</path>]<]minimax[>[<start_line>130]<]minimax[>[</start_line>]<]minimax[>[<end_line>165]<]minimax[>[</end_line>]<]minimax[>[</invoke>\n]<]minimax[>[</tool_call>',
    'reported',
  ],
  [
    'minimax m2',
    '<minimax:tool_call>\n<invoke name="bash">\n<parameter name="command">ls -la</parameter>\n</invoke>\n</minimax:tool_call>',
    ls,
  ],
  [
    'claude: a lone word and a bare invoke',
    'I check the tree.\n\ncount\n<invoke name="bash">\n<parameter name="command">ls -la</parameter>\n</invoke>',
    'reported',
  ],
  [
    'gemma 4',
    '<|tool_call>call:read{path:<|"|>a.txt<|"|>,start_line:3}<tool_call|>',
    [['read', { path: 'a.txt', start_line: 3 }]],
  ],
  [
    'gemma 4 with json in round brackets',
    '<|tool_call>call:search({"query":"x","tags":["a","b"]})<tool_call|>',
    'reported',
  ],
  [
    'glm 5 on one line',
    '<tool_call>read<arg_key>path</arg_key><arg_value>a.txt</arg_value><arg_key>start_line</arg_key><arg_value>7</arg_value></tool_call>',
    [['read', { path: 'a.txt', start_line: 7 }]],
  ],
  [
    'gpt-oss harmony',
    '<|channel|>analysis<|message|>I need the list.<|end|><|start|>assistant<|channel|>commentary to=functions.bash <|constrain|>json<|message|>{"command":"ls -la"}<|call|>',
    ls,
  ],
  [
    'qwen coder, </think> in an argument',
    '<tool_call>\n<function=bash>\n<parameter=command>\nsed -i "s#</think>##" out.txt\n</parameter>\n</function>\n</tool_call>',
    [['bash', { command: 'sed -i "s#</think>##" out.txt' }]],
  ],
  [
    'qwen coder without its opener',
    '<function=bash>\n<parameter=command>\nls -la\n</parameter>\n</function>\n</tool_call>',
    ls,
  ],
  [
    'hermes after an unopened think',
    'The user wants a list.\n</think>\n\n<tool_call>\n{"name": "bash", "arguments": {"command": "ls -la"}}\n</tool_call>',
    ls,
  ],
  [
    'documentation names the mark',
    'DeepSeek opens its calls with `<｜DSML｜tool_calls>` and ends them with `</｜DSML｜tool_calls>`.',
    'text',
  ],
  [
    'documentation shows a call in a fence',
    'The model writes this:\n\n```xml\n<｜DSML｜tool_calls>\n<｜DSML｜invoke name="bash">\n<｜DSML｜parameter name="command" string="true">ls -la</｜DSML｜parameter>\n</｜DSML｜invoke>\n</｜DSML｜tool_calls>\n```\n\nYour parser must read it.',
    'text',
  ],
  [
    'seed oss',
    '<seed:tool_call>\n<function=bash>\n<parameter=command>ls -la</parameter>\n</function>\n</seed:tool_call>',
    ls,
  ],
  ['mistral name and args', '[TOOL_CALLS]bash[ARGS]{"command": "ls -la"}', ls],
])('an answer of this kind runs exactly its whole calls: %s', (_, written, outcome) =>
  expect(outcomeOf(written)).toEqual(outcome),
)
