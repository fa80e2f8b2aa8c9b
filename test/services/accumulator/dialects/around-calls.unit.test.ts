// A response keeps the words for the user next to recovered calls, and no thinking.

import { describe, expect, it } from '@jest/globals'
import { accumulator } from '../../../../services/accumulator/reducer.ts'
import type { Declaration, Response } from '../../../../shared/contract/messages.ts'
import { given } from '../../../support/given.ts'
import { declarationWith } from '../../../support/messages.ts'
import { event, finished, opened, part } from '../stream.ts'
import { offered } from './offered.ts'

const declarations: Declaration[] = offered.map(({ name, schema }) =>
  declarationWith({ name, schema, timeoutMs: 60_000 }),
)

function responseTo(text: string): Response {
  const open = opened({ offered: offered.map(({ name }) => name) })
  const end = finished({ stop: 'end', finish: 'stop', declarations })
  const [record] = given(accumulator, open, part(0, event('text', text)), end).to('next')
  if (record?.type !== 'round-proposed') throw new Error('no round was proposed')
  return record.response
}

const k3 =
  '<|open|>tools<|sep|><|open|>call tool="now" index="1"<|sep|><|close|>call<|sep|><|close|>tools<|sep|>'
const harmony = '<|start|>assistant<|channel|>commentary to=functions.now<|message|>{}<|call|>'

describe('a response with recovered calls', () => {
  it.each([
    ['harmony', `<|channel|>commentary<|message|> I look. <|end|>${harmony}`, 'I look.'],
    [
      'harmony with two messages',
      `<|channel|>commentary<|message|>I look.<|end|><|start|>assistant<|channel|>analysis<|message|>hm<|end|><|start|>assistant<|channel|>commentary<|message|>Now.<|end|>${harmony}`,
      'I look.\n\nNow.',
    ],
    ['Kimi K3', `<|open|>response<|sep|>I look.<|close|>response<|sep|>${k3}`, 'I look.'],
    ['Kimi K3 without words', `<|open|>response<|sep|><|close|>response<|sep|>${k3}`, ''],
    ['a frame without words', '<tool_call>{"name":"now","arguments":{}}</tool_call>', ''],
  ])('keeps the words that its frame addresses to the user: %s', (_, text, words) =>
    expect(responseTo(text)).toMatchObject({ text: words, calls: [{ name: 'now', raw: '{}' }] }),
  )

  it.each([
    [
      'Kimi K3',
      `I think.<|close|>think<|sep|><|open|>response<|sep|><|close|>response<|sep|>${k3}`,
    ],
    ['Kimi K3 with its mark', `<|open|>think<|sep|>I think.<|close|>think<|sep|>${k3}`],
    [
      'Command A',
      '<|START_THINKING|>I think.<|END_THINKING|><|START_ACTION|>[{"tool_call_id": "0", "tool_name": "now", "parameters": {}}]<|END_ACTION|>',
    ],
    [
      'Apertus',
      '<|inner_prefix|>I think.<|inner_suffix|><|tools_prefix|>[{"now": {}}]<|tools_suffix|>',
    ],
    [
      'MiniMax M3',
      '<mm:think>I think.</mm:think>\n]<]minimax[>[<tool_call>]<]minimax[>[<invoke name="now">]<]minimax[>[</invoke>]<]minimax[>[</tool_call>',
    ],
    [
      'Seed-OSS',
      '<seed:think>I think.</seed:think><seed:tool_call>\n<function=now>\n</function>\n</seed:tool_call><seed:eos>',
    ],
    ['harmony', `<|channel|>analysis<|message|>I think.<|end|>${harmony}`],
  ])('is found after the thinking of its family: %s', (_, text) =>
    expect(responseTo(text)).toMatchObject({ text: '', calls: [{ name: 'now' }] }),
  )

  it.each([
    ['Kimi K3', `<|open|>think<|sep|>${k3}`],
    [
      'Command A',
      '<|START_THINKING|><|START_ACTION|>[{"tool_name": "now", "parameters": {}}]<|END_ACTION|>',
    ],
    ['Apertus', '<|inner_prefix|><|tools_prefix|>[{"now": {}}]<|tools_suffix|>'],
    ['harmony', `<|channel|>analysis<|message|>${harmony}`],
  ])('is not found in thinking without an end: %s', (_, text) =>
    expect(responseTo(text)).toMatchObject({ text, calls: [], textCalls: null }),
  )

  it('does not run in front of thinking without an end, and its token is reported', () => {
    const text = `${harmony}<|start|>assistant<|channel|>analysis<|message|>{"name":"now","arguments":{}}`
    expect(responseTo(text)).toMatchObject({ text, calls: [], textCalls: { held: 'frame' } })
  })

  const write = (content: string) =>
    `<tool_call>\n${JSON.stringify({ name: 'file_write', arguments: { path: 'a', content } })}\n</tool_call>`

  it.each([
    ['an end of thinking', write('a </think> b')],
    ['a beginning of thinking after its end', write('</think> <think>')],
    ['an end of thinking after real thinking', `hm\n</think>\n\n${write('a </think> b')}`],
    ['a beginning of thinking after real thinking', `hm\n</think>\n\n${write('a <think> b')}`],
    ['a call after an end of thinking', write(`</think>\n${write('b')}`)],
  ])('runs once with %s in an argument', (_, text) =>
    expect(responseTo(text)).toMatchObject({ text: '', calls: [{ name: 'file_write' }] }),
  )

  it('does not run in thinking that an end without a beginning closes', () =>
    expect(responseTo(`I could\n${write('a')}\nbut no.\n</think>\nDone.`)).toMatchObject({
      calls: [],
      textCalls: null,
    }))
})
