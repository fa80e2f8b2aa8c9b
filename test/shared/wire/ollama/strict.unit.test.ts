// The strict reading of Ollama's answers, and their printing: FRAMING-1, OLLAMA-STRICT-1 and OLLAMA-STRICT-2.

import { describe, expect, it } from '@jest/globals'
import { callsOfAnswer, textOfAnswer } from '../../../../shared/wire/exchange.ts'
import { jsonLines } from '../../../../shared/wire/framing/text-framings.ts'
import { ollamaStrict } from '../../../../shared/wire/ollama/strict.ts'
import { StrictFault } from '../../../../shared/wire/strict/strict.ts'

type Json = Record<string, unknown>

const part = (message: Json, more: Json = {}): Json => ({
  model: 'm',
  created_at: '2026-01-02T03:04:05Z',
  message: { role: 'assistant', content: '', ...message },
  done: false,
  ...more,
})
const end = { done: true, done_reason: 'stop', prompt_eval_count: 7, eval_count: 3 }
const call = (name: string, args: unknown = {}, more: Json = {}) => ({
  function: { name, arguments: args },
  ...more,
})

function streamed(objects: Json[]) {
  const reader = ollamaStrict.stream()
  const shown = objects.flatMap((one) => reader.read(one))
  return { shown, answer: reader.end() }
}

describe('an answer of Ollama under the veto', () => {
  it('shows texts at once, and nothing from its first call on', () => {
    const first = part({ thinking: 'Hm.' })
    const { shown, answer } = streamed([
      first,
      part({ content: 'One.' }),
      part({ tool_calls: [call('read', { path: 'a' })] }),
      part({ content: 'Two.' }),
      part({}, end),
    ])
    expect(shown).toEqual([first, part({ content: 'One.' })])
    expect(callsOfAnswer(answer)).toMatchObject([
      { id: '', name: 'read', arguments: '{"path":"a"}' },
    ])
    expect(textOfAnswer(answer)).toBe('One.Two.')
    expect(answer).toMatchObject({ stop: 'calls', usage: { inputTokens: 7, outputTokens: 3 } })
  })

  it('goes back to the model with its thinking, and with a result for each call', () => {
    const message = { thinking: 'Hm.', tool_calls: [call('read', {}, { id: 'c1' }), call('ls')] }
    const answer = ollamaStrict.whole(part(message, end))
    const results = [
      { callId: 'c1', name: 'read', text: 'no' },
      { callId: '', name: 'ls', text: 'not run' },
    ]
    expect(ollamaStrict.repeated(answer, results, {})).toEqual([
      { role: 'assistant', content: '', ...message },
      { role: 'tool', tool_name: 'read', tool_call_id: 'c1', content: 'no' },
      { role: 'tool', tool_name: 'ls', content: 'not run' },
    ])
  })

  it('passes an error of the server as a text, and is no answer then', () => {
    const reader = ollamaStrict.stream()
    expect(reader.read({ error: 'out of memory', tool_calls: [call('rm')] })).toEqual([
      { error: 'out of memory' },
    ])
    expect(() => reader.end()).toThrow(StrictFault)
  })

  it.each<[string, Json[]]>([
    ['no end', [part({ tool_calls: [call('rm')] })]],
    ['a call after its end', [part({}, end), part({ tool_calls: [call('rm')] })]],
    ['an end that is no boolean', [part({}, { ...end, done: 'true' })]],
    ['no message', [{ model: 'm', ...end }]],
    ['a message of the user', [part({ role: 'user' }, end)]],
    ['content in parts', [part({ content: [{ type: 'text' }] }, end)]],
    ['calls that are no list', [part({ tool_calls: { 0: call('rm') } }, end)]],
    ['a call without a name', [part({ tool_calls: [call('')] }, end)]],
    ['arguments as a text', [part({ tool_calls: [call('rm', '{}')] }, end)]],
    ['a call of another type', [part({ tool_calls: [call('rm', {}, { type: 'code' })] }, end)]],
    ['a second name beside a call', [part({ tool_calls: [call('ls', {}, { name: 'rm' })] }, end)]],
    ['an id that is no text', [part({ tool_calls: [call('rm', {}, { id: 7 })] }, end)]],
    ['a call beside its calls', [part({ function_call: call('rm') }, end)]],
    ['a call beside its message', [part({}, { ...end, tool_calls: [call('rm')] })]],
    ['a mark of another API', ['[DONE]' as unknown as Json]],
  ])('is refused with %s', (_, objects) => {
    expect(() => streamed(objects)).toThrow(StrictFault)
  })
})

describe('lines of JSON', () => {
  const text = '{"a":"é"}\n\r\n{"b":1}'

  it('are the same objects wherever the network cuts them, without the last line end too', () => {
    const bytes = Buffer.from(text)
    for (let at = 0; at <= bytes.length; at += 1) {
      const reader = jsonLines.read()
      const read = [...reader.take(bytes.subarray(0, at)), ...reader.take(bytes.subarray(at))]
      expect([...read, ...reader.end()]).toEqual([{ a: 'é' }, { b: 1 }])
    }
  })

  it('are printed without a character that some clients take for a line end', () => {
    const value = { a: 'x\u2028y\u0085z\n' }
    const printed = `${jsonLines.print([value])}`
    expect(printed).not.toMatch(/[\u2028\u0085\r]|\n./)
    expect(JSON.parse(printed)).toEqual(value)
  })

  it.each([
    ['a line that is no object', '[1]\n'],
    ['a name twice', '{"a":1,"a":2}\n'],
    ['bytes that are no UTF-8', Buffer.from([0x7b, 0xff, 0x7d, 0x0a])],
    ['an object in two lines', '{"a":\n1}\n'],
  ])('are refused with %s', (_, given) => {
    expect(() => jsonLines.read().take(Buffer.from(given as string))).toThrow(StrictFault)
  })
})
