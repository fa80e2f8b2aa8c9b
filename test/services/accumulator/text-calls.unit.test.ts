import { describe, expect, it } from '@jest/globals'
import { accumulator } from '../../../services/accumulator/reducer.ts'
import type {
  Declaration,
  ModelFinished,
  PartEvent,
  RoundProposed,
} from '../../../shared/contract/messages.ts'
import { given } from '../../support/given.ts'
import { callStart, event, finished, opened, part } from './stream.ts'

const write: Declaration = {
  ...{
    name: 'write',
    description: '',
    idempotent: false,
    timeoutMs: 60_000,
    poll: false,
    hints: null,
  },
  schema: '{"type":"object","properties":{"path":{"type":"string"}},"required":["path"]}',
}
const written = '{"name": "write", "arguments": {"path": "hello.py"}}'

function proposed(events: PartEvent[], fields: Partial<ModelFinished> = {}): RoundProposed {
  const end = finished({ stop: 'end', finish: 'stop', declarations: [write], ...fields })
  const [record] = given(accumulator, opened(), part(0, ...events), end).to('next')
  if (record?.type !== 'round-proposed') throw new Error('no round was proposed')
  return record
}

describe('a call that the model wrote as text', () => {
  it('takes the place of the text, under its source and with an id of its own', () => {
    expect(proposed([event('text', written)]).response).toMatchObject({
      text: '',
      calls: [
        {
          ordinal: 0,
          id: 'call_7_2_0',
          name: 'write',
          raw: '{"path": "hello.py"}',
          source: 'text',
          problem: null,
        },
      ],
      textCalls: { dialect: 'json', repairs: [], fault: null },
    })
  })

  it('is the same however the text was cut into pieces', () => {
    const pieces = [...written].map((character) => event('text', character))
    expect(proposed(pieces)).toEqual(proposed([event('text', written)]))
  })

  it('keeps the id that is written, if it is not endless', () => {
    const withId = (id: string) =>
      proposed([event('text', JSON.stringify({ id, tool: 'write', path: 'a' }))]).response.calls[0]
        ?.id
    expect(withId('c1')).toBe('c1')
    expect(withId('x'.repeat(1000))).toBe('call_7_2_0')
  })

  it('says what was repaired to read it', () => {
    expect(
      proposed([event('text', "{'name': 'write', 'arguments': {'path': 'a',}}")]).response,
    ).toMatchObject({
      calls: [{ raw: '{"path": "a"}' }],
      textCalls: { repairs: ['single-quotes', 'trailing-comma'] },
    })
  })

  it('is also found where the provider says that it stops for calls, and sent none', () => {
    expect(proposed([event('text', written)], { stop: 'calls' }).response.calls).toHaveLength(1)
  })

  it('stays text, with the reason, where it cannot run', () => {
    const text = '{"name": "write", "arguments": {}}'
    expect(proposed([event('text', text)]).response).toMatchObject({
      text,
      calls: [],
      textCalls: {
        dialect: 'json',
        fault: "'write' cannot be called like that: missing required field 'path'",
      },
    })
  })

  it.each<[string, string]>([
    ['whole', written],
    ['in the middle of a text', '{"name": "write", "arguments": {"path": "hello'],
    ['behind its name', '{"name": "write", "argu'],
    ['in the flat form', '{"tool": "write", "pa'],
    ['in a list', '[{"name": "write", "arguments": {"path": "a"}}, {"name": "wri'],
    ['in a fence', '```json\n{"name": "write", "arguments": {"path": "hello'],
    ['in a tag', '<tool_call>\n{"name": "write", "arguments": {"path": "hello'],
    ['in Python', '[write(path="hello'],
  ])(
    'is told that it was cut by the output limit, and where nothing says that it is whole: %s',
    (_, text) => {
      const { response } = proposed([event('text', text)], { stop: 'length' })
      expect(response).toMatchObject({
        text,
        calls: [],
        textCalls: { fault: expect.stringContaining('cut by the output limit') },
      })
      expect(
        proposed([event('text', text)], { stop: 'other' }).response.textCalls?.fault,
      ).toContain('nothing says')
      for (const stop of ['refusal', 'cut'] as const)
        expect(proposed([event('text', text)], { stop }).response.textCalls).toBeNull()
    },
  )

  it.each([
    '{"name": "write-utils", "version": "1.0", "argu',
    '{"name": "write", "version": "1.0"',
    '{"path": "a", "tool": "wri',
    '[write](https://x/y',
    'I call {"name": "write", "arguments": {"path": "a',
    '```python\nwrite(path="a',
  ])('is not found in a text that was cut and is none: %s', (text) => {
    expect(proposed([event('text', text)], { stop: 'length' }).response.textCalls).toBeNull()
  })

  it('is answered where the model was told to write its calls, and invents a tool', () => {
    const text = '{"name": "gone", "arguments": {"path": "a"}}'
    const { response } = proposed([event('text', text)], { declarations: [], callsAsText: true })
    expect(response).toMatchObject({
      text,
      calls: [],
      textCalls: { dialect: 'json', fault: "there is no tool 'gone'" },
    })
    for (const other of [text, `\`\`\`json\n${text}\n\`\`\``, '{"name": "gone", "version": "1"}']) {
      const isTold = other !== text
      expect(
        proposed([event('text', other)], { declarations: [], callsAsText: isTold }).response
          .textCalls,
      ).toBeNull()
    }
  })

  it.each([
    '{"name": "write", "arguments": {"path": "hello',
    '{"name": "write", "argu',
    '[{"name": "write", "arguments": {"path": "a"}}, {"na',
  ])(
    'is answered where the model was told to write its calls, and ends in the middle of one without a word of a limit: %s',
    (text) => {
      const { response } = proposed([event('text', text)], { callsAsText: true })
      expect(response).toMatchObject({
        text,
        calls: [],
        textCalls: { dialect: 'json', fault: 'it is not valid JSON' },
      })
      expect(proposed([event('text', text)]).response.textCalls).toBeNull()
      expect(
        proposed([event('text', text.replace('write', 'other'))], { callsAsText: true }).response
          .textCalls,
      ).toBeNull()
    },
  )

  it.each([
    ['before it', `<think>I should write.</think>\n${written}`],
    [
      'in channels',
      `<|channel|>analysis<|message|>I should write.<|end|><|start|>assistant<|channel|>commentary to=functions.write <|message|>{"path": "hello.py"}<|call|>`,
    ],
    ['in several tags', `<think>a</think>\n\n<thinking>b</thinking>${written}`],
    ['in a channel of Gemma', `<|channel>thought\nI should write.<channel|>${written}`],
    ['without the opening tag', `I should write.\n</think>\n\n${written}`],
    [
      'that quotes a call',
      `<think>{"name": "write", "arguments": {"path": "x"}}</think>${written}`,
    ],
  ])('is found behind thinking that stands in the text: %s', (_, text) => {
    expect(proposed([event('text', text)]).response).toMatchObject({
      text: '',
      calls: [{ name: 'write', raw: '{"path": "hello.py"}' }],
    })
  })

  it.each([
    ['inside of it', `<think>${written}</think>`],
    ['inside of it, and text behind it', `<think>${written}</think>It is done.`],
    ['inside of it, without an end', `<think>${written}`],
    ['inside of it, without a beginning', `${written}</think>`],
    ['in a channel that does not end', `<|channel|>analysis<|message|>${written}`],
    ['before a tag that opens later', `a</think>${written}<think>b</think>`],
    ['between words and a tag', `I write: <think>a</think>${written}`],
  ])('is not found where thinking stands around it: %s', (_, text) => {
    expect(proposed([event('text', text)]).response).toMatchObject({
      text,
      calls: [],
      textCalls: null,
    })
  })

  it('is answered also where no offered tool is named, in a frame that holds nothing but calls', () => {
    const text = '<tool_call>{"name": "gone", "arguments": {}}</tool_call>'
    expect(proposed([event('text', text)], { declarations: [] }).response).toMatchObject({
      text,
      textCalls: { fault: "there is no tool 'gone'" },
    })
  })
})

describe('what is never a call', () => {
  it.each<[string, PartEvent[], Partial<ModelFinished>]>([
    ['a text that the output limit cut', [event('text', written)], { stop: 'length' }],
    ['a text of a refusal', [event('text', written)], { stop: 'refusal' }],
    ['a text that stopped for a reason nobody knows', [event('text', written)], { stop: 'other' }],
    [
      'reasoning',
      [
        event('reasoning', written),
        event('reasoning_block', JSON.stringify({ type: 'thinking', thinking: written })),
      ],
      {},
    ],
    ['a call with words around it', [event('text', 'I write it: '), event('text', written)], {}],
    [
      'a tool whose declaration this response does not have',
      [event('text', written)],
      { declarations: [{ ...write, name: 'other' }] },
    ],
  ])('%s', (_, events, fields) => expect(proposed(events, fields).response.calls).toEqual([]))

  it('a text beside a native call', () => {
    const { response } = proposed(
      [event('text', written), callStart(), event('call_arguments', '{}'), event('call_end')],
      {
        stop: 'calls',
      },
    )
    expect(response).toMatchObject({
      text: written,
      calls: [{ name: 'read', source: 'deltas' }],
      textCalls: null,
    })
  })
})
