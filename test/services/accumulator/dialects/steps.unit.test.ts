// The work of recovery grows only as fast as the text. The test counts read characters, not time: a
// search costs the characters it scans, an expression its match and a bounded look ahead.

import { describe, expect, it } from '@jest/globals'
import { withoutThinking } from '../../../../services/accumulator/dialects/around-calls.ts'
import { recovered } from './offered.ts'

const ns = ']<]minimax[>['

const growing: Record<string, (n: number) => string> = {
  'brackets that open': (n) => '['.repeat(n),
  'braces that open': (n) => '{"name":'.repeat(n),
  'a long string': (n) => `{"name":"search","arguments":{"query":"${'x'.repeat(n)}"}}`,
  'a string without an end': (n) => `{"name":"search","arguments":{"query":"${'\\'.repeat(n)}`,
  'many escapes': (n) => `{"name":"search","arguments":{"query":"${'\\d'.repeat(n)}"}}`,
  'many calls': (n) => `[${new Array(n).fill('{"name":"now","arguments":{}}').join(',')}]`,
  'many objects': (n) => '{"name":"now","arguments":{}}\n'.repeat(n),
  'many members': (n) =>
    `{"name":"anything","arguments":{${Array.from({ length: n }, (_, i) => `"a${i}":1`).join(',')}}}`,
  'messages inside of messages': (n) => `${'{"tool_calls":['.repeat(n)}${']}'.repeat(n)}`,
  'functions inside of functions': (n) => `${'{"function":'.repeat(n)}1${'}'.repeat(n)}`,
  'tags that open': (n) => '<tool_call>'.repeat(n),
  'function tags that open': (n) => '<function=search>'.repeat(n),
  'parameters that open': (n) => `<function=search>${'<parameter=query>'.repeat(n)}`,
  'many parameters': (n) =>
    `<function=search>${'<parameter=query>a</parameter>'.repeat(n)}</function>`,
  'keys without values': (n) => `<tool_call>search${'<arg_key>query</arg_key>'.repeat(n)}`,
  'sections that open': (n) => '<|tool_calls_section_begin|><|tool_call_begin|>'.repeat(n),
  'calls of Kimi without an end': (n) =>
    '<|tool_call_begin|>functions.now:0<|tool_call_argument_begin|>{}'.repeat(n),
  'marks of DeepSeek': (n) => '<｜tool▁call▁begin｜>'.repeat(n),
  'marks of Mistral': (n) => '[TOOL_CALLS]'.repeat(n),
  'calls of Mistral': (n) => '[TOOL_CALLS]now{}'.repeat(n),
  'names in Python': (n) => `[${'now('.repeat(n)}`,
  'calls in Python': (n) => `[${new Array(n).fill('now()').join(', ')}]`,
  'invocations that open': (n) => `<function_calls>${'<invoke name="search">'.repeat(n)}`,
  'calls of Gemma that open': (n) => '<|tool_call>call:search{query:'.repeat(n),
  'texts of Gemma without an end': (n) => `<|tool_call>call:search{query:${'<|"|>'.repeat(n)}`,
  'lists of Gemma': (n) => `<|tool_call>call:search{tags:${'['.repeat(n)}`,
  'objects with a mark between them': (n) => '{"name":"now","arguments":{}};'.repeat(n),
  'values in which one opens': (n) =>
    `<tool_call>search${'<arg_key>a</arg_key><arg_value>b<arg_value>'.repeat(n)}`,
  'bare invocations that open': (n) => '<invoke name="search"><parameter name="query">'.repeat(n),
  'bare invocations': (n) => '<invoke name="now"></invoke>'.repeat(n),
  'marks of DSML that open': (n) =>
    '<｜DSML｜invoke name="search"><｜DSML｜parameter name="q">'.repeat(n),
  'values with entities': (n) => `<function name="search"><param name="query">${'&lt;'.repeat(n)}`,
  'CDATA that opens': (n) => `<function name="search"><param name="query">${'<![CDATA['.repeat(n)}`,
  'parameters of MiniCPM': (n) =>
    `<function name="search">${'<param name="query">a</param>'.repeat(n)}</function>`,
  'elements that open': (n) => `${ns}<tool_call>${ns}<invoke name="plan">${`${ns}<any>`.repeat(n)}`,
  'elements in sequence': (n) =>
    `${ns}<tool_call>${ns}<invoke name="anything">${`${ns}<any>a${ns}</any>`.repeat(n)}${ns}</invoke>${ns}</tool_call>`,
  'elements inside of elements': (n) =>
    `${ns}<tool_call>${ns}<invoke name="plan">${`${ns}<any>`.repeat(n)}${`${ns}</any>`.repeat(n)}${ns}</invoke>${ns}</tool_call>`,
  'marks of MiniMax': (n) => ns.repeat(n),
  'channels that open': (n) => '<|open|>tools<|sep|>'.repeat(n),
  'arguments of Kimi K3 that open': (n) =>
    `<|open|>tools<|sep|><|open|>call tool="search"<|sep|>${'<|open|>argument key="query" type="string"<|sep|>'.repeat(n)}`,
  'arguments of Kimi K3': (n) =>
    `<|open|>tools<|sep|><|open|>call tool="anything" index="1"<|sep|>${'<|open|>argument key="q" type="string"<|sep|>a<|close|>argument<|sep|>'.repeat(n)}<|close|>call<|sep|><|close|>tools<|sep|>`,
  'notes of harmony': (n) => '<|start|>assistant<|channel|>commentary<|message|>a<|end|>'.repeat(n),
  'notes of harmony that open': (n) => '<|channel|>commentary<|message|>'.repeat(n),
  'calls of harmony': (n) =>
    '<|start|>assistant<|channel|>commentary to=functions.now<|message|>{}<|call|>'.repeat(n),
  'lines of Python': (n) => `<function_calls>\n${'now()\n'.repeat(n)}</function_calls>`,
  'lines of Python that open': (n) => `<function_calls>\n${'now('.repeat(n)}`,
  'calls that are printed': (n) => `\`\`\`tool_code\n${'print('.repeat(n)}\n\`\`\``,
  'objects in one tag': (n) =>
    `<tool_calls>${'{"name":"now","arguments":{}}\n'.repeat(n)}</tool_calls>`,
  'calls of Hy 3': (n) =>
    `<tool_calls>${'<tool_call>now<tool_sep></tool_call>'.repeat(n)}</tool_calls>`,
  'calls of Apertus': (n) =>
    `<|tools_prefix|>[${new Array(n).fill('{"now":{}}').join(',')}]<|tools_suffix|>`,
  'ends of a turn': (n) => '</s>'.repeat(n),
  'ends of a turn with blanks': (n) => `{}${'<|end|>\n'.repeat(n)}`,
  'thoughts that open': (n) => '<think>'.repeat(n),
  'thoughts that close': (n) => '</think>'.repeat(n),
  'a long text in prose': (n) => 'The tool search runs now. '.repeat(n),
  'a long text with tags': (n) => `See ${'<invoke name="search">[search('.repeat(n)}`,
  'a long table': (n) => '| search | now |\n'.repeat(n),
  fences: (n) => '```\n'.repeat(n),
  'a fence that is long': (n) => `\`\`\`json\n${'`'.repeat(n)}\n\`\`\``,
  blanks: (n) => `${' '.repeat(n)}{${' '.repeat(n)}`,
}

describe('the steps of recovery', () => {
  it.each(Object.entries(growing))('grow with the length of the text: %s', (_, textOf) => {
    const small = stepsOf(textOf(200))
    const large = stepsOf(textOf(4_000))
    // The text is twenty times as long. Quadratic work would be four hundred times as much.
    expect(large / Math.max(small, 2_000)).toBeLessThan(40)
  })
})

/** Number of characters that one recovery reads. */
function stepsOf(text: string): number {
  let steps = 0
  const boundedLook = 300
  const { indexOf, startsWith, charCodeAt, slice, includes } = String.prototype
  const { exec } = RegExp.prototype
  const ofTexts = { indexOf, startsWith, charCodeAt, slice, includes }
  Object.assign(String.prototype, {
    indexOf(this: string, mark: string, from = 0) {
      const at = indexOf.call(this, mark, from)
      steps += (at === -1 ? this.length : at) - from + 1
      return at
    },
    startsWith(this: string, mark: string, from?: number) {
      steps += 1
      return startsWith.call(this, mark, from)
    },
    charCodeAt(this: string, at: number) {
      steps += 1
      return charCodeAt.call(this, at)
    },
    includes(this: string, mark: string, from?: number) {
      steps += this.length
      return includes.call(this, mark, from)
    },
    slice(this: string, from?: number, to?: number) {
      const part = slice.call(this, from, to)
      steps += part.length
      return part
    },
  })
  Object.assign(RegExp.prototype, {
    exec(this: RegExp, on: string) {
      const match = exec.call(this, on)
      steps += match === null ? Math.min(boundedLook, on.length) : match[0].length + 1
      return match
    },
  })
  try {
    recovered(withoutThinking(text))
  } finally {
    Object.assign(String.prototype, ofTexts)
    Object.assign(RegExp.prototype, { exec })
  }
  return steps
}
