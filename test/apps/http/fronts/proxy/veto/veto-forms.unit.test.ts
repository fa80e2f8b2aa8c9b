// Odd answers of servers under the veto: the calls that a client would run, and their numbers.

import { describe, expect, it } from '@jest/globals'
import { chatForm } from '../../../../../../apps/http/fronts/proxy/veto/forms/chat-form.ts'
import { messagesForm } from '../../../../../../apps/http/fronts/proxy/veto/forms/messages-form.ts'
import { responsesForm } from '../../../../../../apps/http/fronts/proxy/veto/forms/responses-form.ts'
import { usageSum } from '../../../../../../apps/http/fronts/proxy/veto/forms/usage-sum.ts'
import type {
  EventData,
  VetoForm,
} from '../../../../../../apps/http/fronts/proxy/veto/forms/veto-form.ts'
import { repeatedRequest } from '../../../../../../apps/http/fronts/proxy/veto/repeated-request.ts'
import type { ModelFormat } from '../../../../../../shared/wire/formats.ts'
import { openaiResponses } from '../../../../../../shared/wire/openai-responses/format.ts'

type Json = Record<string, unknown>
const eventsOf = (...events: Json[]): EventData[] =>
  events.map((data) => ({ text: JSON.stringify(data), data }))
const streamed = (...events: Json[]) => ({ kind: 'streamed' as const, events: eventsOf(...events) })

/** The events that a client has after these of one attempt. */
function shown(stream: ReturnType<VetoForm['clientStream']>, ...events: Json[]): Json[] {
  return eventsOf(...events).flatMap(({ text, data }) => {
    stream.passes(data)
    return stream.shown(text, data).map((one) => JSON.parse(one) as Json)
  })
}

const call = { type: 'tool_use', id: 't1', name: 'exec', input: { cmd: 'ls' } }
const start = (content: Json[]) => ({ type: 'message_start', message: { content } })

describe('Messages', () => {
  it('count a call in the event that begins the message', () => {
    expect(messagesForm.calls(streamed(start([call])))).toBe(1)
    expect(messagesForm.clientStream('m').passes(start([call]))).toBe(false)
  })

  it('give such a call of a later attempt a place behind the shown blocks', () => {
    const stream = messagesForm.clientStream('m')
    const text = { type: 'text', text: 'Hi.' }
    const begun = { type: 'content_block_start', index: 0, content_block: text }
    shown(stream, start([]), begun, { type: 'content_block_stop', index: 0 })
    expect(stream.refused(undefined)).toEqual([])
    expect(shown(stream, start([call]))).toEqual([
      { type: 'content_block_start', index: 1, content_block: call },
      { type: 'content_block_stop', index: 1 },
    ])
  })

  it('end a block that a refusal leaves open', () => {
    const stream = messagesForm.clientStream('m')
    const block = { type: 'text', text: '' }
    shown(stream, start([]), { type: 'content_block_start', index: 0, content_block: block })
    expect(stream.refused(undefined)).toEqual(['{"type":"content_block_stop","index":0}'])
  })

  it('begin a text behind a refused one without blank lines, because a block is a paragraph', () => {
    const stream = messagesForm.clientStream('m')
    const begun = (text: string) => ({
      type: 'content_block_start',
      index: 0,
      content_block: { type: 'text', text },
    })
    shown(stream, start([]), begun('Looking.'), { type: 'content_block_stop', index: 0 })
    stream.refused(undefined)
    expect(shown(stream, begun('Done.'))).toEqual([{ ...begun('Done.'), index: 1 }])
    stream.refused(undefined)
    expect(stream.ended('Weir ends it.').join()).toContain('"text":"Weir ends it."')
  })

  it.each([
    [{ type: 'vendor_event', detail: 'x' }, true],
    [{ type: 'message_delta', delta: { stop_reason: null }, usage: { output_tokens: 3 } }, true],
    [{ type: 'message_delta', delta: { stop_reason: 'tool_use' } }, false],
    [{ type: 'vendor_event', block: call }, false],
    [{ type: 'content_block_start', index: 0, content_block: { type: 'new_use' } }, false],
    [{ type: 'message_stop' }, false],
  ])('may show %j before the verdict: %s', (event, may) => {
    expect(messagesForm.clientStream('m').passes(event)).toBe(may)
  })

  it.each([
    ['{"cmd":1.50}', '{"cmd":1.50}'],
    ['{bad', '{}'],
    ['[1]', '{}'],
  ])('repeat the arguments %s as %s', (piece, input) => {
    const [answer] = messagesForm.repeated(
      streamed(
        { type: 'content_block_start', index: 0, content_block: { ...call, input: {} } },
        {
          type: 'content_block_delta',
          index: 0,
          delta: { type: 'input_json_delta', partial_json: piece },
        },
      ),
      [],
      {},
    )
    expect(answer).toContain(`"input":${input}}`)
  })
})

describe('Chat Completions', () => {
  const chunk = (...calls: Json[]) => ({ choices: [{ index: 0, delta: { tool_calls: calls } }] })
  const piece = (index: number, id: string | undefined, args: string) => ({
    ...(id === undefined ? {} : { id, type: 'function' }),
    index,
    function: { ...(id === undefined ? {} : { name: 'exec' }), arguments: args },
  })

  it('join the pieces of a call, also if all calls have one index', () => {
    const answer = streamed(
      ...[chunk(piece(0, 'c1', '{"a"')), chunk(piece(0, undefined, ':1}'))],
      ...[chunk(piece(0, 'c2', '{"b"')), chunk(piece(0, undefined, ':2}'))],
    )
    expect(chatForm.calls(answer)).toBe(2)
    const [message = ''] = chatForm.repeated(answer, [], {})
    expect((JSON.parse(message) as { tool_calls: Json[] }).tool_calls).toEqual([
      { id: 'c1', type: 'function', function: { name: 'exec', arguments: '{"a":1}' } },
      { id: 'c2', type: 'function', function: { name: 'exec', arguments: '{"b":2}' } },
    ])
  })

  it.each([
    [{ content: 'Hi.', function_call: { name: 'exec' } }],
    [{ content: 'Hi.', tool_calls: [{ index: 0, type: 'function', function: {} }] }],
    [{ content: 'Hi.', tool_calls: [{ index: 0, id: 'c1' }] }],
    [{ content: 'Hi.', tool_call: 'exec' }],
    [{ content: 'Hi.', provider_specific_fields: { mcp_tool_calls: [{ id: 'c1' }] } }],
    [{ content: 'Hi.', something_new: [{ type: 'tool_use', id: 'c1' }] }],
    [{ content: 'Hi.', something_new: { name: 'exec', arguments: '{}' } }],
  ])('hold a delta that may be a call: %j', (delta) => {
    const stream = chatForm.clientStream('m')
    expect(stream.passes({ choices: [{ index: 0, delta }] })).toBe(false)
  })

  it.each([
    [{ function_call: {} }],
    [{ tool_calls: [{ index: 0 }] }],
    [{ tool_calls: [{ index: 1, id: null, type: null, function: null }] }],
    [{ tool_calls: [null] }],
  ])('count no call in a text beside an empty entry: %j', (entry) => {
    const event = { choices: [{ index: 0, delta: { content: 'Hi.', ...entry } }] }
    expect(chatForm.clientStream('m').passes(event)).toBe(true)
    expect(chatForm.calls(streamed(event))).toBe(0)
  })

  it('leave an empty entry out of the repeat', () => {
    const answer = streamed(chunk({ index: 0 }), chunk(piece(0, 'c1', '{}')))
    expect(chatForm.calls(answer)).toBe(1)
    const [message = ''] = chatForm.repeated(answer, [], {})
    expect((JSON.parse(message) as { tool_calls: Json[] }).tool_calls).toEqual([
      { id: 'c1', type: 'function', function: { name: 'exec', arguments: '{}' } },
    ])
  })

  it('count the calls of every choice of a whole answer', () => {
    const message = { tool_calls: [{ id: 'c1', function: { name: 'exec', arguments: '{}' } }] }
    const body = {
      choices: [
        { index: 0, message: {} },
        { index: 1, message },
      ],
    }
    expect(chatForm.calls({ kind: 'whole', text: JSON.stringify(body), body })).toBe(1)
  })

  it('answer a call of the older form in its form', () => {
    const delta = { function_call: { name: 'exec', arguments: '{}' } }
    const [, result] = chatForm.repeated(
      streamed({ choices: [{ index: 0, delta }] }),
      [{ callId: '', name: 'exec', text: 'No.' }],
      {},
    )
    expect(JSON.parse(result ?? '')).toEqual({ role: 'function', name: 'exec', content: 'No.' })
  })
})

describe('Responses', () => {
  const item = { type: 'reasoning', id: 'rs_1', summary: [] }
  const done = (one: Json) => ({ type: 'response.output_item.done', output_index: 0, item: one })

  it('repeat reasoning only if the provider can read it', () => {
    const encrypted = { ...item, encrypted_content: 'x' }
    const kept = (one: Json, request: Json) =>
      responsesForm.repeated(streamed(done(one)), [], request).length
    expect(kept(item, { store: false })).toBe(0)
    expect(kept(encrypted, { store: false })).toBe(1)
    expect(kept(item, {})).toBe(1)
  })

  it('answer a call with free text in its form', () => {
    const free = { type: 'custom_tool_call', call_id: 'c1', name: 'patch', input: 'x' }
    const results = [{ callId: 'c1', name: 'patch', text: 'No.' }]
    expect(responsesForm.repeated(streamed(done(free)), results, {}).at(-1)).toBe(
      '{"type":"custom_tool_call_output","call_id":"c1","output":"No."}',
    )
  })

  it.each(['local_shell_call', 'shell_call', 'apply_patch_call', 'computer_call'])(
    'hold the item %s, which a client runs',
    (type) => {
      const added = { type: 'response.output_item.added', output_index: 0, item: { type } }
      expect(responsesForm.clientStream('m').passes(added)).toBe(false)
      expect(responsesForm.calls(streamed(done({ type })))).toBe(1)
    },
  )

  it.each([
    [{ type: 'codex.rate_limits', rate_limits: { primary: { used_percent: 4 } } }, true],
    [{ type: 'keepalive', sequence_number: 3 }, true],
    [{ type: 'response.function_call_arguments.delta', delta: '{}' }, false],
    [{ type: 'response.completed', response: { output: [] } }, false],
    [{ item: { type: 'function_call' } }, false],
  ])('may show the event of no item %j before the verdict: %s', (event, may) => {
    expect(responsesForm.clientStream('m').passes(event)).toBe(may)
  })

  it('hold an item that begins as a text and ends as a call', () => {
    const stream = responsesForm.clientStream('m')
    const message = { type: 'message', content: [] }
    const added = { type: 'response.output_item.added', output_index: 0, item: message }
    expect(stream.passes(added)).toBe(true)
    expect(stream.passes(done({ type: 'function_call', call_id: 'c1' }))).toBe(false)
    expect(stream.passes(done(message))).toBe(true)
  })

  it('become a list in a repeat if the history is one text', () => {
    const text = '{"input" : "hi","store":false}'
    const sent = { text, body: JSON.parse(text) as Json }
    const made = repeatedRequest(openaiResponses as ModelFormat, sent, ['{"a":1}'])
    expect(made.body.input).toEqual([
      { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'hi' }] },
      { a: 1 },
    ])
    expect(made.text.endsWith(',"store":false}')).toBe(true)
  })
})

describe('the usage of attempts', () => {
  it('has the sum of each number, also inside, and the newest of other values', () => {
    const first = { in: 1, details: { cached: 2 }, tier: 'a', left: null }
    const second = { in: 3, details: { cached: 4, new: 5 }, tier: 'b', out: 6 }
    expect(usageSum(first, second)).toEqual({
      in: 4,
      details: { cached: 6, new: 5 },
      tier: 'b',
      left: null,
      out: 6,
    })
    expect(usageSum(undefined, second)).toBe(second)
    expect(usageSum(undefined, undefined)).toBeUndefined()
  })
})
