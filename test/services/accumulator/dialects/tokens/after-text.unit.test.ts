// Calls after prose. The expectations were written before the first run. `offered.ts` has the tools.

import { describe, expect, it } from '@jest/globals'
import { callsAfterText } from '../../../../../services/accumulator/dialects/after-text.ts'
import { unrunnable } from '../../../../../services/accumulator/dialects/unrunnable.ts'
import { echoSource } from '../../../../../services/accumulator/echo.ts'
import { offered } from '../offered.ts'

const kimi =
  '<|tool_calls_section_begin|><|tool_call_begin|>functions.search:0<|tool_call_argument_begin|>{"query": "weir"}<|tool_call_end|><|tool_calls_section_end|>'
const deepseek =
  '<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>search<｜tool▁sep｜>{"query": "weir"}<｜tool▁call▁end｜><｜tool▁calls▁end｜>'
const dsml =
  '<｜DSML｜tool_calls>\n<｜DSML｜invoke name="search">\n<｜DSML｜parameter name="query" string="true">weir</｜DSML｜parameter>\n</｜DSML｜invoke>\n</｜DSML｜tool_calls>'
const m3 =
  ']<]minimax[>[<tool_call>\n]<]minimax[>[<invoke name="search">]<]minimax[>[<query>weir]<]minimax[>[</query>]<]minimax[>[</invoke>\n]<]minimax[>[</tool_call>'
const hermes = '<tool_call>\n{"name": "search", "arguments": {"query": "weir"}}\n</tool_call>'

describe('a whole call with special tokens after prose', () => {
  it.each([
    ['I look it up.', `I look it up. ${kimi}`],
    ['I look it up.', `I look it up.\n\n${deepseek}`],
    ['Let me check the site!', `Let me check the site!${dsml}`],
    ['我来查一下。', `我来查一下。${kimi}`],
    ['確認します。', `確認します。\n${deepseek}<｜end▁of▁sentence｜>`],
    ['Сейчас посмотрю.', `Сейчас посмотрю. ${dsml}`],
    ['I look it up.', `<think>Which one?</think>I look it up. ${kimi}`],
    ['I look it up.', `I look it up.\n${m3}`],
    ['I look it up.', 'I look it up. [TOOL_CALLS]search[ARGS]{"query": "weir"}'],
    [
      'I look it up.',
      'I look it up.[TOOL_CALLS][{"name": "search", "arguments": {"query": "weir"}}]</s>',
    ],
    ['Let me see what the page says.', `Let me see what the page says. ${kimi}`],
    ['Does it leak? I look it up.', `Does it leak? I look it up. ${kimi}`],
    ['The search failed. I try again.', `The search failed. I try again.\n\n${kimi}`],
  ])('runs, and the prose stays for the user: %s', (preamble, text) => {
    const after = callsAfterText(text, offered)
    expect(after?.recovery).toMatchObject({
      preamble,
      calls: [{ name: 'search', raw: expect.stringMatching(/^\{"query": ?"weir"\}$/) }],
    })
  })

  it.each<[string, string]>([
    ['a fence', `I show it.\n\`\`\`\n${kimi}\n\`\`\``],
    ['a fence without its end', `I show it.\n\`\`\`\n${kimi}`],
    ['a quote', `You wrote this.\n> ${kimi}`],
    ['code in a line', `You wrote this. \`${kimi}`],
    ['quotation marks', `You wrote this. "${kimi}`],
    ['an entry of a list', `Two families.\n- ${kimi}`],
    ['an entry with a number', `Two families.\n2. ${kimi}`],
    ['a table', `Two families.\n| ${kimi}`],
    ['an element for code', `I show it.\n<pre>${kimi}`],
    ['the middle of a sentence', `Kimi sends ${kimi}`],
    ['a sentence of Mistral', 'Mistral sends [TOOL_CALLS]search[ARGS]{"query": "weir"}'],
    ['a heading', `# Kimi K2\n\n${kimi}`],
    ['a line after a colon', `Kimi K2:\n\n${kimi}`],
    ['a line after a Chinese colon', `如下：\n${kimi}`],
    ['an explanation of calls', `Kimi K2 has a special format for each call.\n\n${kimi}`],
    ['an explanation of an output', `This is the text that the server emits.\n\n${kimi}`],
    ['an explanation in Chinese', `这是 Kimi 的调用格式。\n\n${kimi}`],
    ['an explanation in Japanese', `これがツール呼び出しです。\n${deepseek}`],
    ['an explanation in Russian', `Модель пишет это.\n\n${dsml}`],
    [
      'a text that names its token',
      `The mark <|tool_calls_section_begin|> comes first.\n\n${kimi}`,
    ],
    ['words of a document', `The document contains the following.\n\n${kimi}`],
    ['words of a page', `The page says \u201cDo it.\u201d ${kimi}`],
    ['a line after a quote', `> The page said.\n${kimi}`],
    ['a question to the user', `Should I do this?\n\n${kimi}`],
    ['a refusal', `Never do this.\n\n${kimi}`],
    ['a refusal with a verb', `Do not run this.\n\n${kimi}`],
    ['a refusal in the first person', `I will not delete it.\n\n${kimi}`],
    ['a refusal in German', `So etwas darf nie laufen.\n\n${kimi}`],
    ['an attack', `An attacker could send this.\n\n${kimi}`],
    ['a wish for consent', `Please confirm first.\n\n${kimi}`],
    ['a plan', `I would then send this.\n\n${kimi}`],
    ['a log', `这是日志中的内容。\n\n${kimi}`],
    ['thinking', `<think>I look it up. ${kimi}`],
    ['a text that goes on', `I look it up. ${kimi} Done.`],
    ['a call that is cut', `I look it up. ${kimi.slice(0, -5)}`],
    ['a tool that is not offered', `I look it up. ${kimi.replace('search', 'gone')}`],
    ['arguments that break the schema', `I look it up. ${kimi.replace('"weir"', '7')}`],
    ['a tag, which a person may write', `I look it up.\n${hermes}`],
    ['no prose', kimi],
  ])('does not run in %s', (_, text) => expect(callsAfterText(text, offered)).toBeUndefined())

  it('does not run if an earlier text holds it', () => {
    const answered = { text: `I look it up. ${kimi}`, offered, callsAsText: false }
    const source = 'a message of the user'
    expect(echoSource(answered, [{ source, text: `Run this: ${kimi}` }])).toBe(source)
    expect(echoSource(answered, [{ source, text: 'What is a dam?' }])).toBeNull()
  })

  it('is reported if it does not run because a colon precedes it', () =>
    expect(unrunnable(`Kimi K2:\n\n${kimi}`, offered)?.hold).toBe('frame'))
})
