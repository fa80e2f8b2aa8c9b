// The expectations were written before the first run. `offered.ts` has the tools.

import { describe, expect, it } from '@jest/globals'
import { unrunnable } from '../../../../services/accumulator/dialects/unrunnable.ts'
import { cpuMsOf } from '../../../support/cpu-time.ts'
import { offered } from './offered.ts'

const json = '{"name": "search", "arguments": {"query": "weir"}}'
const hermes = `<tool_call>\n${json}\n</tool_call>`
const functionTag =
  '<tool_call>\n<function=search>\n<parameter=query>\nweir\n</parameter>\n</function>\n</tool_call>'
const invoke =
  '<function_calls>\n<invoke name="search">\n<parameter name="query">weir</parameter>\n</invoke>\n</function_calls>'
const kimi =
  '<|tool_calls_section_begin|><|tool_call_begin|>functions.search:0<|tool_call_argument_begin|>{"query": "weir"}<|tool_call_end|><|tool_calls_section_end|>'

const found = (text: string) => unrunnable(text, offered)?.hold

describe('a text that ends with one complete frame of calls', () => {
  it.each<[string, string]>([
    ['hermes', `I look it up.\n${hermes}`],
    ['hermes with a blank line', `I look it up.\n\n${hermes}\n`],
    ['behind a colon', `Let me search for it:\n\n${hermes}`],
    ['a tag with the name of the function', `I look it up.\n\n${functionTag}`],
    ['a tag with invocations', `I look it up.\n\n${invoke}`],
    ['kimi', `I look it up.\n\n${kimi}`],
    ['mistral', `I look it up.\n\n[TOOL_CALLS][${json}]`],
    ['python tag', `I look it up.\n<|python_tag|>${json}`],
    ['two frames in a row', `I look up both.\n${hermes}\n${hermes.replace('weir', 'dam')}`],
    ['after a sentence in the same line', `I look it up. ${hermes.replaceAll('\n', '')}`],
    ['before the end of a turn', `I look it up.\n${hermes}<|im_end|>`],
    ['behind a closed fence', `The file has:\n\`\`\`\nabc\n\`\`\`\nI look it up.\n${hermes}`],
    ['behind thinking', `<think>I need it.</think>\nI look it up.\n${hermes}`],
    ['behind thinking without a beginning', `I need it.\n</think>\n\nI look it up.\n${hermes}`],
    ['behind an element that is closed', `<pre>abc</pre>\nI look it up.\n${hermes}`],
    ['behind a text in another language', `Ich schaue nach.\n\n${hermes}`],
    ['behind many lines of markup', `${'<p>a</p>\n'.repeat(300)}I look it up.\n${hermes}`],
    [
      'tags without a section, after a word of their own',
      `I look it up.\n\ncount\n${invoke.split('\n').slice(1, -1).join('\n')}`,
    ],
    ['in the middle of a sentence', `I look it up ${hermes.replaceAll('\n', '')}`],
    ['in the middle of a sentence about a call', `I will call it now ${invoke}`],
    ['between marks of no known family', `I look it up.\n<call>${json}</call>`],
    ['between marks in lines of their own', `I look it up.\n[[tool]]\n${json}\n[[/tool]]`],
    [
      'with an end of thinking in its argument',
      `I look.\n${hermes.replace('weir', 'a </think> b')}`,
    ],
    [
      'with markup in its argument',
      `I write it.\n<tool_call>\n<function=file_write>\n<parameter=path>\na.html\n</parameter>\n<parameter=content>\n${'<p>call me</p>\n'.repeat(20)}</parameter>\n</function>\n</tool_call>`,
    ],
  ])('is found: %s', (_, text) => expect(found(text)).toBe('frame'))

  it.each([
    'Let me search for more information:',
    'I will look up this information first:',
    'Now the transformation of the table:',
    'I format the file now:',
    'Je cherche un exemple dans le dépôt :',
    'Ich suche nach einem Beispiel im Archiv:',
    'Busco información sobre el formato de la fecha:',
    'Смотрю следующий файл:',
    'Сначала нужна информация:',
    'Проверю формат файла:',
    '次のファイルを確認します：',
    '我来格式化文件：',
    '我来查找模板文件：',
    '형식을 확인하겠습니다:',
  ])('is found after a sentence that announces work: %s', (sentence) => {
    expect(found(`${sentence}\n${hermes}`)).toBe('frame')
    expect(found(`${sentence}\n${kimi}`)).toBe('frame')
  })

  it.each([
    'Zum Beispiel:',
    'Das Format ist ein Beispiel für einen Aufruf:',
    'Par exemple :',
    "Voici un exemple d'appel :",
    'Un ejemplo de llamada:',
    'Ecco un esempio:',
    '例如：',
    '调用格式如下：',
    '示例：',
    '次の形式です：',
    '以下は呼び出しの例です：',
    '예시:',
    'Пример:',
    'Например, такой вызов:',
    'Формат вызова:',
    'على سبيل المثال:',
  ])('is not found after a sentence that announces an example: %s', (sentence) =>
    expect(found(`${sentence}\n${hermes}`)).not.toBe('frame'),
  )

  it.each<[string, string]>([
    ['text follows the frame', `I look it up.\n${hermes}\nThat is all.`],
    ['a fence holds it', `I look it up.\n\`\`\`\n${hermes}\n\`\`\``],
    ['a fence that never ends holds it', `This is a call.\n\`\`\`xml\n${hermes}`],
    ['a fence with the line ends of Windows holds it', `This is a call.\r\n\`\`\`\r\n${hermes}`],
    ['a fence of tildes holds it', `This is a call.\n~~~\n\`\`\`\n${hermes}`],
    ['it is a quote', `You wrote this.\n> ${hermes.replaceAll('\n', '\n> ')}`],
    ['it stands in a line', `A call is written as ${hermes.replaceAll('\n', '')}`],
    ['it ends a sentence about its form', `Qwen emits ${hermes.replaceAll('\n', '')}`],
    ['it is the object of a sentence', `You search with ${hermes.replaceAll('\n', '')}`],
    ['marks of no known family are an example', `For example:\n<call>${json}</call>`],
    ['marks of no known family hold data', `I look.\n<call>{"name": "Ada", "input": {}}</call>`],
    ['it is code in a line', `A call is written as\n\`${hermes.replaceAll('\n', '')}\``],
    ['it is an entry of a list', `The calls:\n- ${hermes.replaceAll('\n', '')}`],
    ['it is indented like code', `A call:\n\n    ${hermes.replaceAll('\n', '\n    ')}`],
    ['the text mentions the tag', `A call stands in <tool_call> tags.\n\n${hermes}`],
    ['the text has another frame', `${hermes}\nIt answers nothing.\n${hermes}`],
    ['an example is announced', `For example:\n\n${hermes}`],
    ['a likeness is announced', `Qwen writes its calls like this:\n\n${hermes}`],
    ['a format is announced', `**The format is:**\n${hermes}`],
    ['a sample is announced', `Here is an example of a call:\n${hermes}`],
    ['an element for examples holds it', `<example>\n${hermes}`],
    ['an element for code holds it', `<pre><code>\n${hermes}`],
    ['HTML mentions the end of thinking', `<p>The tag </think> ends it.</p>\n${hermes}`],
    ['HTML ends a line with the end of thinking', `<html>\n<p>It is </think>\n<b>a</b>\n${hermes}`],
    ['a sentence mentions the end of thinking', `Models write </think> first.\n${hermes}`],
    ['it names a tool that is not offered', `I look.\n${hermes.replace('search', 'find')}`],
    ['its arguments break the schema', `I look.\n${hermes.replace('"weir"', '7')}`],
    ['an argument is not declared', `I look.\n${hermes.replace('}}', ', "x": 1}}')}`],
    ['it is broken', `I look it up.\n${hermes.replace('}}', '}')}`],
    ['it is only JSON', `I look it up.\n${json}`],
    ['it is only JSON in an array', `I look it up.\n[${json}]`],
    ['it is a call in Python', `I look it up.\n[search(query="weir")]`],
    ['it is ReAct', `I look it up.\nAction: search\nAction Input: {"query": "weir"}`],
    ['it is a tag with the name of the tool', `I look.\n<search>\n<query>weir</query>\n</search>`],
    ['thinking holds it', `<think>I look it up.\n${hermes}</think>`],
    ['it is the whole text', hermes],
    ['it is all that follows thinking', `I look it up.\n</think>\n\n${hermes}`],
  ])('is not found if %s', (_, text) => expect(found(text)).not.toBe('frame'))
})

describe('a text that is one object in another shape', () => {
  it.each([
    '{"tool_name": "search", "arguments": {"query": "weir"}}',
    '{"tool_name": "search", "parameters": {}}',
    '{"toolName": "search", "args": {"query": "weir"}}',
    '{"name": "search", "args": {"query": "weir"}}',
    '{"name": "search", "input": {"query": "weir"}}',
    '{"name": "search", "params": "{\\"query\\": \\"weir\\"}"}',
    '{"type": "tool_use", "id": "toolu_1", "name": "search", "input": {"query": "weir"}}',
    '{"type": "function_call", "name": "search", "args": {"query": "weir"}}',
    '{"action": "search", "action_input": {"query": "weir"}}',
    '{"thought": "I look it up.", "action": "search", "args": {"query": "weir"}}',
    '{"function": "search", "arguments": {"query": "weir"}}',
    '{"tool_call": {"name": "search", "arguments": {"query": "weir"}}}',
    '{"function_call": {"name": "search", "arguments": "{\\"query\\": \\"weir\\"}"}}',
    '[{"tool_name": "search", "args": {"query": "weir"}}]',
    '<think>I need it.</think>{"tool_name": "search", "args": {"query": "weir"}}',
    "{'tool_name': 'search', 'args': {'query': 'weir',}}",
    `---\n${json}\n---`,
    `***\n${json}\n***`,
  ])('is found: %s', (text) => expect(found(text)).toBe('shape'))

  it.each<[string, string]>([
    ['another tool', '{"tool_name": "find", "args": {"query": "weir"}}'],
    ['data beside the call', '{"tool_name": "search", "args": {"query": "weir"}, "ms": 12}'],
    ['a result', '{"tool_name": "search", "input": {"query": "weir"}, "output": "a"}'],
    ['arguments that are a list', '{"name": "search", "args": ["-v"]}'],
    ['arguments that break the schema', '{"name": "search", "args": {"q": "weir"}}'],
    ['no arguments', '{"tool_name": "search"}'],
    ['a package', '{"name": "search", "version": "1.0.0", "dependencies": {}}'],
    ['a person', '{"name": "search", "address": {"query": "weir"}}'],
    ['a declaration', '{"name": "search", "parameters": {"type": "object", "properties": {}}}'],
    ['a settings file', '{"search": {"query": "weir"}}'],
    ['a list with other data', '[{"tool_name": "search", "args": {"query": "a"}}, {"a": 1}]'],
    ['an empty list', '[]'],
    ['a fence', '```json\n{"tool_name": "search", "args": {"query": "weir"}}\n```'],
    ['text before it', 'I call {"tool_name": "search", "args": {"query": "weir"}}'],
    ['text behind it', '{"tool_name": "search", "args": {"query": "weir"}} is a call'],
    ['a cut text', '{"tool_name": "search", "args": {"query": "weir"}'],
    ['thinking', '<think>{"tool_name": "search", "args": {"query": "weir"}}</think>'],
  ])('is not found with %s', (_, text) => expect(found(text)).toBeUndefined())
})

const dsml =
  '<｜DSML｜tool_calls><｜DSML｜invoke name="search"><｜DSML｜parameter name="query" string="true">weir</｜DSML｜parameter></｜DSML｜invoke></｜DSML｜tool_calls>'
const kimiK3 =
  '<|open|>tools<|sep|><|open|>call tool="search" index="1"<|sep|><|open|>argument key="query" type="string"<|sep|>weir<|close|>argument<|sep|><|close|>call<|sep|><|close|>tools<|sep|>'

describe('a text with a special token of a call that no dialect reads whole', () => {
  it.each<[string, string]>([
    ['the opening token alone', 'Let me check.\n\n<｜DSML｜function_calls'],
    ['a call on the line of the prose', `I look it up. ${kimi}`],
    ...[
      'Let me search for more information:',
      'I will look up this information first:',
      'I format the file now:',
      'Je cherche un exemple dans le dépôt :',
      '次のファイルを読みます：',
      '格式化文件：',
      'Открываю следующий файл:',
    ].map((prose): [string, string] => [`a call after ${prose}`, `${prose}\n${kimi}`]),
    ['DSML on the line of the prose', `I look it up.${dsml}`],
    ['text after the call', `${kimiK3}Done.`],
    ['a parameter in place of the call', dsml.replace(/<｜DSML｜invoke.*?>/, '')],
    ['a section without its end', `I look.\n\n${dsml.replace('</｜DSML｜tool_calls>', '')}`],
    [
      'an end of DSML after tags',
      dsml.replace(/<｜DSML｜(tool_calls|invoke[^>]*|parameter[^>]*)>/g, '<a>'),
    ],
    [
      'a call that lost tokens in a relay',
      '<|open|>toolscall tool="search" index="1"<|sep|>weirargument<|sep|><|close|>call<|sep|>',
    ],
    [
      'a call that ends in its head',
      'I look.\n<|open|>tools<|sep|><|open|>call tool="search" weir',
    ],
    [
      'a call without its beginning',
      'search:0<|tool_call_argument_begin|>{"query": "weir"}<|tool_calls_section_end|>',
    ],
    ['a tag of MiniMax without its end', 'I look.\n<minimax:tool_call>\n<invoke name="search">'],
    ['a bracket of Mistral with text after the call', `[TOOL_CALLS]search{"query": "weir"}\nDone.`],
    ['a tag of Seed in a text that goes on', 'I look.\n<seed:tool_call>\n<function=search>\nDone.'],
    ['blanks in the tokens', 'I look.\n<｜tool calls begin｜>search'],
    ['a tool that is not offered', `I look. ${kimi.replace('search', 'gone')}`],
    [
      'a call of harmony and an answer',
      '<|channel|>commentary to=functions.now<|message|>{}<|call|><|start|>assistant<|channel|>final<|message|>Done.',
    ],
    [
      'MiniMax on the line of the prose',
      'I look.]<]minimax[>[<tool_call>\n]<]minimax[>[<invoke name="search">',
    ],
    [
      'a response of Command A in front',
      '<|START_RESPONSE|>I look.<|END_RESPONSE|><|START_ACTION|>[{"tool_name": "search", "parameters": {"query": "a"}}]<|END_ACTION|>',
    ],
  ])('is reported: %s', (_, text) => expect(found(text)).toBe('frame'))

  it.each<[string, string]>([
    ['code in a line', 'DeepSeek opens its calls with `<｜DSML｜tool_calls>`.'],
    [
      'a fence',
      `The model writes this:\n\n\`\`\`xml\n${dsml}\n\`\`\`\n\nYour parser must read it.`,
    ],
    ['a word of a sentence', 'The mark <|tool_call|> opens a call, and <|/tool_call|>, closes it.'],
    ['a word in quotes', 'It begins with "<|tool_calls_section_begin|>" on a new line.'],
    ['a table', '| mark | model |\n|---|---|\n| <|tool_call|> | Phi |'],
    ['a quote', `You wrote:\n> ${kimi}`],
    ['an announced example', `Kimi writes its calls like this:\n\n${kimi}`],
    ['an operator', 'In F#, write x <| call y, or parse with a <|> b.'],
    ['a token of a turn', '<|im_start|>user'],
    ['a message to the user', '<|channel|>commentary<|message|>I run search.<|end|>'],
    ['the middle of a line, for a tag', 'A call stands in <minimax:tool_call> and its end.'],
    ['the middle of a line, for a bracket', 'Mistral writes [TOOL_CALLS] in front of them.'],
    ['XML of another kind', '<xsl:function name="search">\n<my_tool_call>'],
    ['thinking', `<think>I try ${kimi}</think>All done.`],
  ])('is not reported if it is in %s', (_, text) => expect(found(text)).toBeUndefined())

  it('is reported although the text was cut, unlike a shape or a frame', () => {
    expect(unrunnable(`I look. ${kimi.slice(0, 90)}`, offered, true)?.hold).toBe('frame')
    expect(unrunnable(`I look it up.\n${hermes}`, offered, true)).toBeUndefined()
  })
})

describe('JSON that names an offered tool between two marks that mirror each other', () => {
  it.each([
    `<|my_action|>${json}<|/my_action|>`,
    `<|begin_call|>${json}<|end_call|>`,
    `<call_tool>\n${json}\n</call_tool>`,
    `<tool>[${json}]</tool>`,
    `[MY_REQUEST]${json}[END_MY_REQUEST]`,
    `<｜request｜>{"tool_name": "search", "args": {"query": "weir"}}<｜/request｜>`,
    `<<CALL>>${json}<</CALL>>`,
    `[[tool]]\n${json}\n[[/tool]]`,
    `{{call}}${json}{{/call}}`,
    `@@tool@@\n${json}\n@@end@@`,
    `◁call▷${json}◁/call▷`,
    `=== TOOL ===\n${json}\n=== END TOOL ===`,
  ])('is reported: %s', (text) => expect(found(text)).toBe('shape'))

  it.each([
    `<call_tool>${json}</other>`,
    `<<CALL>>${json}[[/CALL]]`,
    `<pre>${json}</pre>`,
    `<example>${json}</example>`,
    `<call_tool>${json.replace('search', 'gone')}</call_tool>`,
    `<call_tool>${json.replace('"query"', '"q"')}</call_tool>`,
    `<tool>{"name": "search", "parameters": {"type": "object", "properties": {}}}</tool>`,
    `<call_tool>${json}</call_tool> runs.`,
  ])('is not reported: %s', (text) => expect(found(text)).toBeUndefined())
})

it('a text without offered tools holds nothing', () =>
  expect(unrunnable(`I look it up.\n${hermes}`, [])).toBeUndefined())

it.each<[string, string]>([
  ['lines that begin like frames', '<tool_call>\n'],
  ['frames that are open', '<function_calls>\n<invoke name="search">\n'],
  ['open elements', '<pre><code>'],
  ['fences', '```\n'],
  ['brackets', '{"tool_name":'],
  ['tokens', '<|tool_call|>'],
  ['tokens in a sentence', '<|tool_call|> is a mark. '],
  ['bars', '<| | '],
  ['ends of thinking', '</think>\n'],
])('a text of two megabytes is judged like a short one: %s', (_, unit) => {
  const text = (times: number) => found(`a\n${unit.repeat(times)}\n${hermes}`)
  expect(text(Math.floor(2_000_000 / unit.length))).toBe(text(4))
})

it.each<[string, (blanks: number) => string]>([
  ['line ends in thinking', (n) => `Hm.${'\n'.repeat(n)}x</think>\nHi\n${hermes}`],
  ['a long fence with a carriage return', (n) => `${'`'.repeat(n)}\r\nHi\n${hermes}`],
  ['tabs after a fence', (n) => `\`\`\`${'\t'.repeat(n)}.\n\`\`\`\nHi\n${hermes}`],
])('a text of 100,000 characters is judged in linear time: %s', (_, text) => {
  const cpuMs = cpuMsOf(() => expect(found(text(100_000))).toBe(found(text(8))))
  expect(cpuMs).toBeLessThan(3_000)
})

it('marks around JSON are sought in linear time in two megabytes of signs', () => {
  const text = `[[a${'['.repeat(9)}${`}}}}}}}}a${'/.'.repeat(23)}`.repeat(36_000)}x`
  const cpuMs = cpuMsOf(() => expect(found(text)).toBeUndefined())
  expect(cpuMs).toBeLessThan(1_500)
})
