// Calls of which a part is missing. The expectations were written before the first run. `offered.ts`
// has the tools.

import { describe, expect, it } from '@jest/globals'
import { answerIn, recover } from '../../../../../services/accumulator/dialects/recover.ts'
import { unrunnable } from '../../../../../services/accumulator/dialects/unrunnable.ts'
import { offered, recovered } from '../offered.ts'

const json = '{"name": "search", "arguments": {"query": "weir"}}'
const half = '{"name": "search", "arguments": {"query": "we'
/** Whether the model learns of it. */
const isReported = (text: string) =>
  (recover({ text: answerIn(text), offered }) ?? unrunnable(text, offered)) !== undefined
const dsml = (section: string, blank = '') =>
  ['tool_calls', 'invoke name="search"', 'parameter name="query" string="true"']
    .map((mark) => `<${section}${mark}${blank}>`)
    .join('\n')
    .concat(
      'weir',
      ['parameter', 'invoke', 'tool_calls']
        .map((mark) => `</${section}${mark}${blank}>`)
        .join('\n'),
    )

describe('a call without its end', () => {
  it.each([
    `<tool_call>\n${json}`,
    `<tool_call>\n${half}`,
    `I look it up.\n<tool_call>\n${json}`,
    `I look it up.\n<tool_call>\n${half}`,
    'I look it up.\n<tool_call>',
    'I look it up.\n<tool_call>\n<function=search>\n<parameter=query>\nweir',
    'I look it up.\n<function=search>\n<parameter=query>\nweir',
    '<tool_call>search\n<arg_key>query</arg_key>\n<arg_value>weir',
    'I look it up.\n<tool_call>search\n<arg_key>query</arg_key>\n',
    'I look it up.\n<function_calls>\n<invoke name="search">\n<parameter name="query">weir</parameter>',
    `I look it up.\n<tool_calls>\n[${json}`,
  ])('is reported: %s', (text) => {
    expect(isReported(text)).toBe(true)
    expect(isReported(text.replaceAll('search', 'gone'))).toBe(text.endsWith('<tool_call>'))
  })

  it.each([
    'The model must begin its answer with <tool_call>',
    'The tag <tool_call> opens a call, and </tool_call> closes it.',
    'A call begins so:\n```\n<tool_call>\nsearch\n```',
    'For example:\n<tool_call>\nsearch',
    'The mark <tool_call> comes first.\n<tool_call>\nsearch',
    `<tool_call>\n${json}\n</tool_call>\nThat is all.`,
    '<tool_call> search for it in the docs, which explain the tag.',
    '<invoke name="gone">\n<parameter name="a">1</parameter>',
    '<function name="Save">\nsearch',
  ])('is not reported where a text explains it: %s', (text) =>
    expect(unrunnable(text, offered)).toBeUndefined(),
  )

  it('is reported also if the output limit cut it after other text', () =>
    expect(unrunnable(`I look it up.\n<tool_call>\n${half}`, offered, true)?.token).toContain(
      '<tool_call>',
    ))
})

describe('a call without its beginning', () => {
  it.each([
    'search\n<arg_key>query</arg_key>\n<arg_value>weir</arg_value>\n</tool_call>',
    `${json}\n</tool_call>`,
    'I look.\n<parameter=query>\nweir\n</parameter>\n</function>',
    'I look.\n<parameter name="query">weir</parameter>\n</invoke>',
  ])('is reported: %s', (text) => expect(isReported(text)).toBe(true))

  it.each([
    'A call of GLM ends with </tool_call>',
    'For example:\n<arg_key>query</arg_key>\n</tool_call>',
    'GLM writes `<arg_key>` before </tool_call>',
  ])('is not reported where a text explains it: %s', (text) =>
    expect(unrunnable(text, offered)).toBeUndefined(),
  )
})

describe('a call of DeepSeek', () => {
  it.each([
    ['four bars', '||||DSML||||', ''],
    ['blanks before the ends of marks', '||||DSML||||', ' '],
    ['blanks inside', ' | DSML | ', ' '],
    ['wide bars', '｜｜｜｜DSML｜｜｜｜', ' '],
    ['lost bars', 'DSML｜', ''],
  ])('runs with %s', (_, section, blank) =>
    expect(recovered(dsml(section, blank))).toMatchObject({ kind: 'calls' }),
  )

  it('is reported if a mark is damaged', () => {
    expect(isReported(dsml('DSML｜').replace('invoke', 'parameter'))).toBe(true)
    expect(isReported('DeepSeek writes <｜DSML｜tool_calls > first.')).toBe(false)
  })
})
