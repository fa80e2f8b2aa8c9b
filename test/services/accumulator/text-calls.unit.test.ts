import { describe, expect, it } from '@jest/globals'
import { accumulator } from '../../../services/accumulator/reducer.ts'
import type {
  Declaration,
  ModelFinished,
  PartEvent,
  RoundProposed,
} from '../../../shared/contract/messages.ts'
import { given } from '../../support/given.ts'
import { declarationWith } from '../../support/messages.ts'
import { callStart, event, finished, opened, part } from './stream.ts'

const write: Declaration = declarationWith({
  name: 'write',
  timeoutMs: 60_000,
  schema: '{"type":"object","properties":{"path":{"type":"string"}},"required":["path"]}',
})
const written = '{"name": "write", "arguments": {"path": "hello.py"}}'

function proposed(events: PartEvent[], fields: Partial<ModelFinished> = {}): RoundProposed {
  const end = finished({ stop: 'end', finish: 'stop', declarations: [write], ...fields })
  const [record] = given(accumulator, opened(), part(0, ...events), end).to('next')
  if (record?.type !== 'round-proposed') throw new Error('no round was proposed')
  return record
}

describe('a call that the model wrote as text', () => {
  it('replaces the text, with the source `text` and an id from Weir', () => {
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
      textCalls: { dialect: 'json', repairs: [], fault: null, held: null },
    })
  })

  it('is the same for any division of the text into pieces', () => {
    const pieces = [...written].map((character) => event('text', character))
    expect(proposed(pieces)).toEqual(proposed([event('text', written)]))
  })

  it('keeps its written id, unless it is too long', () => {
    const withId = (id: string) =>
      proposed([event('text', JSON.stringify({ id, tool: 'write', path: 'a' }))]).response.calls[0]
        ?.id
    expect(withId('c1')).toBe('c1')
    expect(withId('x'.repeat(1000))).toBe('call_7_2_0')
  })

  it('names the repairs that reading it needed', () => {
    expect(
      proposed([event('text', "{'name': 'write', 'arguments': {'path': 'a',}}")]).response,
    ).toMatchObject({
      calls: [{ raw: '{"path": "a"}' }],
      textCalls: { repairs: ['single-quotes', 'trailing-comma'] },
    })
  })

  it('is also found if the provider stops for calls and sends none', () => {
    expect(proposed([event('text', written)], { stop: 'calls' }).response.calls).toHaveLength(1)
  })

  it('stays text, with the reason, if it cannot run', () => {
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
    ['after its name', '{"name": "write", "argu'],
    ['in the flat form', '{"tool": "write", "pa'],
    ['in a list', '[{"name": "write", "arguments": {"path": "a"}}, {"name": "wri'],
    ['in a fence', '```json\n{"name": "write", "arguments": {"path": "hello'],
    ['in a tag', '<tool_call>\n{"name": "write", "arguments": {"path": "hello'],
    ['in Python', '[write(path="hello'],
  ])('gets a fault if the output limit cut it, or if its end is unknown: %s', (_, text) => {
    const { response } = proposed([event('text', text)], { stop: 'length' })
    expect(response).toMatchObject({
      text,
      calls: [],
      textCalls: { fault: expect.stringContaining('cut by the output limit') },
    })
    expect(proposed([event('text', text)], { stop: 'other' }).response.textCalls?.fault).toContain(
      'nothing says',
    )
    for (const stop of ['refusal', 'cut'] as const)
      expect(proposed([event('text', text)], { stop }).response.textCalls).toBeNull()
  })

  it.each([
    '{"name": "write-utils", "version": "1.0", "argu',
    '{"name": "write", "version": "1.0"',
    '{"path": "a", "tool": "wri',
    '[write](https://x/y',
    'I call {"name": "write", "arguments": {"path": "a',
    '```python\nwrite(path="a',
  ])('is not found in a cut text that is not built like one: %s', (text) => {
    expect(proposed([event('text', text)], { stop: 'length' }).response.textCalls).toBeNull()
  })

  it('gets a fault if it invents a tool and the model must write its calls as text', () => {
    const text = '{"name": "gone", "arguments": {"path": "a"}}'
    const { response } = proposed([event('text', text)], { declarations: [], callsAsText: true })
    expect(response).toMatchObject({
      text,
      calls: [],
      textCalls: { dialect: 'json', fault: "there is no tool 'gone'" },
    })
    for (const other of [text, `\`\`\`json\n${text}\n\`\`\``, '{"name": "gone", "version": "1"}']) {
      const callsAsText = other !== text
      expect(
        proposed([event('text', other)], { declarations: [], callsAsText }).response.textCalls,
      ).toBeNull()
    }
  })

  it.each([
    '{"name": "write", "arguments": {"path": "hello',
    '{"name": "write", "argu',
    '[{"name": "write", "arguments": {"path": "a"}}, {"na',
  ])(
    'gets a fault if it breaks off without an output limit and the model must write its calls as text: %s',
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
  ])('is found after thinking in the text: %s', (_, text) => {
    expect(proposed([event('text', text)]).response).toMatchObject({
      text: '',
      calls: [{ name: 'write', raw: '{"path": "hello.py"}' }],
    })
  })

  it.each([
    ['inside it', `<think>${written}</think>`],
    ['inside it, with text after it', `<think>${written}</think>It is done.`],
    ['inside it, without an end', `<think>${written}`],
    ['inside it, without a beginning', `${written}</think>`],
    ['in a channel that does not end', `<|channel|>analysis<|message|>${written}`],
    ['before a tag that opens later', `a</think>${written}<think>b</think>`],
    ['between words and a tag', `I write: <think>a</think>${written}`],
  ])('is not found inside thinking: %s', (_, text) => {
    expect(proposed([event('text', text)]).response).toMatchObject({
      text,
      calls: [],
      textCalls: null,
    })
  })

  it('gets a fault for a tool that was not offered, in a frame that is used only for calls', () => {
    const text = '<tool_call>{"name": "gone", "arguments": {}}</tool_call>'
    expect(proposed([event('text', text)], { declarations: [] }).response).toMatchObject({
      text,
      textCalls: { fault: "there is no tool 'gone'" },
    })
  })
})

describe('the setting of the agent', () => {
  const frame = `I write it.\n<tool_call>\n${written}\n</tool_call>`
  const shape = '{"tool_name": "write", "args": {"path": "hello.py"}}'
  const token = 'I write it. <|tool_call_begin|>write'
  const unread = "'<|tool_call_begin|>' belongs to a call, and no whole call is there"
  const broken = '{"name": "write", "arguments": {}}'
  const source = "a result of the tool 'read'"
  const rule = 'only native tool calls run here, through the tool interface of this request'
  const heldIn = (text: string, fields: Partial<ModelFinished>) => {
    const { calls, textCalls, text: shown } = proposed([event('text', text)], fields).response
    if (textCalls !== null && textCalls.held !== null)
      expect([calls, shown, textCalls.repairs]).toEqual([[], text, []])
    return calls.length > 0 ? 'runs' : (textCalls?.held ?? textCalls?.fault ?? 'text')
  }

  it.each<[ModelFinished['textCalls'], string, string, string, string, string]>([
    // mode, whole, echo, broken, frame, shape
    ['run', 'runs', 'echo', 'fault', 'frame', 'shape'],
    ['tell', 'tell', 'echo', 'tell', 'frame', 'shape'],
    ['off', 'text', 'text', 'text', 'text', 'text'],
    [null, 'runs', 'echo', 'fault', 'text', 'text'],
  ])('decides about a text: %s', (textCalls, whole, echo, fault, after, other) => {
    const missing = "'write' cannot be called like that: missing required field 'path'"
    expect([
      heldIn(written, { textCalls }),
      heldIn(written, { textCalls, echoOf: source }),
      heldIn(broken, { textCalls }),
      heldIn(frame, { textCalls }),
      heldIn(shape, { textCalls }),
    ]).toEqual([whole, echo, fault === 'fault' ? missing : fault, after, other])
  })

  it.each<[string, Partial<ModelFinished>, string]>([
    [written, { textCalls: 'tell' }, rule],
    [written, { textCalls: 'tell', echoOf: source }, `${source} already holds it, and ${rule}`],
    [
      written,
      { echoOf: source },
      `${source} already holds it, and a text from there is never run as a call`,
    ],
    [
      broken,
      { textCalls: 'tell' },
      `'write' cannot be called like that: missing required field 'path'; also, ${rule}`,
    ],
    [frame, { textCalls: 'tell' }, `it follows other text, and ${rule}`],
    [shape, {}, `it is plain JSON, and ${rule}`],
    [token, {}, `${unread}; also, ${rule}`],
    [token, { callsAsText: true }, unread],
    [
      token,
      { stop: 'length' },
      `${unread}; also, it was cut by the output limit; make it shorter, or do it in several smaller calls; also, ${rule}`,
    ],
    [
      frame,
      { callsAsText: true },
      'other text stands before it, and a call must be the whole response',
    ],
    [shape, { callsAsText: true }, 'it does not have the form {"name": ..., "arguments": {...}}'],
    [
      written,
      { callsAsText: true, textCalls: 'tell' },
      'calls that are written as text do not run here',
    ],
  ])('words the reason for the model: %s %j', (text, fields, fault) =>
    expect(proposed([event('text', text)], fields).response.textCalls?.fault).toBe(fault),
  )

  it.each(['length', 'other', 'refusal', 'cut'] as const)(
    'reports no frame and no other shape in a text that may be cut: %s',
    (stop) => {
      expect(heldIn(frame, { stop })).toBe('text')
      expect(heldIn(shape, { stop })).toBe('text')
    },
  )

  it('reports none next to a native call', () => {
    const { response } = proposed(
      [event('text', frame), callStart(), event('call_arguments', '{}'), event('call_end')],
      { stop: 'calls' },
    )
    expect(response.textCalls).toBeNull()
  })
})

describe('texts that are never calls', () => {
  it.each<[string, PartEvent[], Partial<ModelFinished>]>([
    ['a text that the output limit cut', [event('text', written)], { stop: 'length' }],
    ['a text of a refusal', [event('text', written)], { stop: 'refusal' }],
    ['a text with an unknown stop reason', [event('text', written)], { stop: 'other' }],
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
  ])('include %s', (_, events, fields) =>
    expect(proposed(events, fields).response.calls).toEqual([]),
  )

  it('include a text next to a native call', () => {
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
