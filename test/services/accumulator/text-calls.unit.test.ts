import { describe, expect, it } from '@jest/globals'
import { accumulator } from '../../../services/accumulator/reducer.ts'
import type { Declaration, ModelFinished, PartEvent, RoundProposed } from '../../../shared/messages.ts'
import { given } from '../../support/given.ts'
import { callStart, event, finished, opened, part } from './stream.ts'

const write: Declaration = {
  ...{ name: 'write', description: '', idempotent: false, timeoutMs: 60_000, poll: false, hints: null },
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
      calls: [{ ordinal: 0, id: 'call_7_2_0', name: 'write', raw: '{"path": "hello.py"}', source: 'text', problem: null }],
      textCalls: { dialect: 'json', repairs: [], fault: null },
    })
  })

  it('is the same however the text was cut into pieces', () => {
    const pieces = [...written].map((character) => event('text', character))
    expect(proposed(pieces)).toEqual(proposed([event('text', written)]))
  })

  it('keeps the id that is written, if it is not endless', () => {
    const withId = (id: string) => proposed([event('text', JSON.stringify({ id, tool: 'write', path: 'a' }))]).response.calls[0]?.id
    expect(withId('c1')).toBe('c1')
    expect(withId('x'.repeat(1000))).toBe('call_7_2_0')
  })

  it('says what was repaired to read it', () => {
    expect(proposed([event('text', "{'name': 'write', 'arguments': {'path': 'a',}}")]).response).toMatchObject({
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
      textCalls: { dialect: 'json', fault: "'write' cannot be called like that: missing required field 'path'" },
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
    ['reasoning', [event('reasoning', written), event('reasoning_block', JSON.stringify({ type: 'thinking', thinking: written }))], {}],
    ['a call with words around it', [event('text', 'I write it: '), event('text', written)], {}],
    ['a tool whose declaration this response does not have', [event('text', written)], { declarations: [{ ...write, name: 'other' }] }],
  ])('%s', (_, events, fields) => expect(proposed(events, fields).response.calls).toEqual([]))

  it('a text beside a native call', () => {
    const { response } = proposed([event('text', written), callStart(), event('call_arguments', '{}'), event('call_end')], {
      stop: 'calls',
    })
    expect(response).toMatchObject({ text: written, calls: [{ name: 'read', source: 'deltas' }], textCalls: null })
  })
})
