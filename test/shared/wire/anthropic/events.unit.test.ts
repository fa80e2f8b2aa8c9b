import { describe, expect, it } from '@jest/globals'
import { limits } from '../../../../shared/contract/limits.ts'
import type { PartEvent } from '../../../../shared/contract/messages.ts'
import { readSent } from '../../../../shared/wire/answer-reader.ts'
import { messageAnswers } from '../../../../shared/wire/anthropic/events.ts'
import { apiKey } from '../../../services/llm-gateway/samples.ts'

type Event = Record<string, unknown>

/**
 * The part events and the final state of the response. A string is sent verbatim. Server metadata
 * is left out.
 */
function read(...events: (Event | string)[]) {
  const stream = messageAnswers.begin({ secret: apiKey })
  const parts = events.flatMap((event) =>
    typeof event === 'string'
      ? readSent(messageAnswers, stream, null, event)
      : readSent(messageAnswers, stream, String(event.type), JSON.stringify(event)),
  )
  return {
    ...stream,
    parts: [...parts, ...messageAnswers.end(stream)].filter(({ kind }) => kind !== 'provider_said'),
  }
}

const begin = {
  type: 'message_start',
  message: {
    id: 'm1',
    content: [],
    stop_reason: null,
    usage: { input_tokens: 7, output_tokens: 1 },
  },
}
const toolUse = (fields: Event = {}) => ({
  type: 'tool_use',
  id: 't1',
  name: 'read',
  input: {},
  ...fields,
})
const start = (index: number, content_block: Event) => ({
  type: 'content_block_start',
  index,
  content_block,
})
const delta = (index: number, fields: Event) => ({
  type: 'content_block_delta',
  index,
  delta: fields,
})
const json = (index: number, partial_json: unknown) =>
  delta(index, { type: 'input_json_delta', partial_json })
const stop = (index: number) => ({ type: 'content_block_stop', index })

const part = (kind: PartEvent['kind'], index: number, text = ''): PartEvent => ({
  kind,
  index,
  id: null,
  name: null,
  text,
})
const callStart = (index: number, text = '', fields: Partial<PartEvent> = {}) => ({
  ...part('call_start', index, text),
  id: 't1',
  name: 'read',
  ...fields,
})

describe('a call', () => {
  it('begins, gets its argument bytes as they are sent, and ends', () => {
    expect(
      read(begin, start(0, toolUse()), json(0, ''), json(0, '{"path": '), json(0, '"a"}'), stop(0))
        .parts,
    ).toEqual([
      callStart(0),
      part('call_arguments', 0, '{"path": '),
      part('call_arguments', 0, '"a"}'),
      part('call_end', 0),
    ])
  })

  it('accepts pieces of any type, and emits unknown content as arguments of no call', () => {
    const pieces = [
      delta(0, { partial_json: '{"a":' }),
      delta(0, { type: 'input_delta', partial_json: '1}' }),
    ]
    expect(read(start(0, toolUse()), ...pieces).parts).toEqual([
      callStart(0),
      part('call_arguments', 0, '{"a":'),
      part('call_arguments', 0, '1}'),
    ])
    expect(
      read(start(0, toolUse()), delta(0, { type: 'input_json_delta', json: '{"a":1}' })).parts,
    ).toEqual([callStart(0), part('call_arguments', 1, '{"json":"{\\"a\\":1}"}')])
    expect(read(start(0, toolUse()), delta(0, { type: 'text_delta', text: '{}' })).parts).toEqual([
      callStart(0),
      part('call_arguments', 1, '{"text":"{}"}'),
    ])
    expect(read(start(0, toolUse()), delta(0, { type: 'input_json_delta' })).parts).toEqual([
      callStart(0),
    ])
  })

  it('may be repeated whole at its end', () => {
    const end = { ...stop(0), content_block: toolUse({ input: { path: 'a' } }) }
    expect(read(start(0, toolUse()), end).parts).toEqual([
      callStart(0),
      part('call_done', 0, '{"path":"a"}'),
      part('call_end', 0),
    ])
  })

  it.each([[{}], [null], [undefined], [''], ['null']])(
    'that starts with the placeholder %j has no start input',
    (input) => {
      expect(read(start(0, toolUse({ input }))).parts).toEqual([callStart(0)])
    },
  )

  it.each([
    ['{"n":12345678901234567890}'],
    ['{"n":1.0,"m":[1e400,-0.10]}'],
    ['{"__proto__":{"a":1}}'],
    ['[]'],
    ['[1]'],
    ['"{\\"path\\":\\"a\\"}"'],
    ['0'],
    ['false'],
  ])('passes its start input on as the value that was sent: %s', (input) => {
    const event = `{"type":"content_block_start","index":0,"content_block":{"type":"tool_use","id":"t1","name":"read","input":${input}}}`
    expect(read(event).parts).toEqual([callStart(0, input)])
  })

  it('passes start input and deltas on apart: which one counts is not decided here (I5.1)', () => {
    expect(
      read(start(0, toolUse({ input: { path: 'a' } })), json(0, '{"path":"a"}')).parts,
    ).toEqual([callStart(0, '{"path":"a"}'), part('call_arguments', 0, '{"path":"a"}')])
  })

  it('has an index from our own count: a reused provider index begins another call', () => {
    const twice = read(
      start(0, toolUse()),
      json(0, '1'),
      stop(0),
      start(0, toolUse({ id: 't2' })),
      json(0, '2'),
      stop(0),
    ).parts
    expect(twice.map(({ kind, index }) => [kind, index])).toEqual([
      ['call_start', 0],
      ['call_arguments', 0],
      ['call_end', 0],
      ['call_start', 1],
      ['call_arguments', 1],
      ['call_end', 1],
    ])
  })

  it('that is announced twice while it is open is one call', () => {
    expect(
      read(start(0, toolUse()), start(0, toolUse()), json(0, '{}'), stop(0), stop(0)).parts,
    ).toEqual([callStart(0), part('call_arguments', 0, '{}'), part('call_end', 0)])
  })

  it('that is announced twice has the input of the announcement that has one, and only one', () => {
    const announced = (...inputs: unknown[]) =>
      read(...inputs.map((input) => start(0, toolUse({ input }))), stop(0))
    expect(announced({}, { path: 'a' }).parts).toEqual([
      callStart(0),
      part('call_done', 0, '{"path":"a"}'),
      part('call_end', 0),
    ])
    expect(announced({ path: 'a' }, {}, { path: 'a' }).parts).toEqual([
      callStart(0, '{"path":"a"}'),
      part('call_end', 0),
    ])
    expect(announced({ path: 'a' }, { path: 'b' }).fault).toMatchObject({
      reason: expect.stringContaining('different inputs'),
    })
    expect(announced({}, { path: 'a' }, { path: 'b' }).fault).toMatchObject({ retryable: true })
  })

  it('that is announced as another tool is another call, and the first one was never closed', () => {
    const parts = read(
      start(0, toolUse()),
      start(0, toolUse({ name: 'write' })),
      json(0, '{}'),
      stop(0),
    ).parts
    expect(parts).toEqual([
      callStart(0),
      callStart(1, '', { name: 'write' }),
      part('call_arguments', 1, '{}'),
      part('call_end', 1),
    ])
  })

  it('may have a text for an index', () => {
    const parts = read(
      ...[start(0, toolUse()), start(1, toolUse({ id: 't2' })), json(0, '{}'), stop(0)].map(
        (sent) => ({
          ...sent,
          index: `${sent.index}`,
        }),
      ),
    ).parts
    expect(parts).toEqual([
      callStart(0),
      callStart(1, '', { id: 't2' }),
      part('call_arguments', 0, '{}'),
      part('call_end', 0),
    ])
  })

  it('without an index belongs to the block that began last', () => {
    const parts = read(
      { type: 'content_block_start', content_block: { type: 'text', text: '' } },
      { type: 'content_block_start', content_block: toolUse() },
      { type: 'content_block_delta', delta: { type: 'input_json_delta', partial_json: '{}' } },
      { type: 'content_block_stop' },
    ).parts
    expect(parts).toEqual([callStart(1), part('call_arguments', 1, '{}'), part('call_end', 1)])
  })

  it('without id or name is passed on as such', () => {
    expect(read(start(0, { type: 'tool_use' })).parts).toEqual([
      callStart(0, '', { id: null, name: '' }),
    ])
  })

  it('in message_start comes out once, whether the stream announces it again or not', () => {
    const begun = {
      type: 'message_start',
      message: { id: 'm', content: [toolUse({ input: { path: 'a' } })], stop_reason: 'tool_use' },
    }
    const once = [callStart(0, '{"path":"a"}'), part('call_end', 0)]
    const whole = [{ ...once[0], kind: 'call_whole' }, once[1]]
    expect(read(begun, { type: 'message_stop' }).parts).toEqual(whole)
    expect(read(begun, begun, { type: 'message_stop' }).parts).toEqual(whole)
    expect(
      read(begun, start(0, toolUse({ input: { path: 'a' } })), stop(0), { type: 'message_stop' })
        .parts,
    ).toEqual(once)
    expect(read(begun).finish).toBe('') // foretold: a stream that breaks now has not ended
    expect(read(begun, { type: 'message_stop' }).finish).toBe('tool_use')
  })

  it('is none where the provider runs the tool itself, or the block is of an unknown kind', () => {
    for (const type of [
      'server_tool_use',
      'mcp_tool_use',
      'web_search_tool_result',
      'something_new',
    ]) {
      const ignored = read(
        start(0, toolUse({ type, input: { path: 'a' } })),
        json(0, '{"path":"a"}'),
        delta(0, { type: 'text_delta', text: 'x' }),
        stop(0),
      )
      expect(ignored.parts.map(({ kind, text }) => [kind, JSON.parse(text).type])).toEqual([
        ['kept_apart', type],
      ])
      expect(ignored.fault).toBeUndefined()
    }
  })

  it('keeps argument bytes of a block that never began, under a separate index', () => {
    const stray = read(start(0, toolUse()), json(3, '{"path":"a"}'), stop(0)).parts
    expect(stray).toEqual([
      callStart(0),
      part('call_arguments', 1, '{"path":"a"}'),
      part('call_end', 0),
    ])
  })

  it.each(['server_tool_use', 'thinking', 'text'])(
    'keeps argument bytes for an ended block of another kind: %s',
    (type) => {
      const { parts } = read(
        start(0, { type }),
        stop(0),
        start(1, toolUse()),
        json(0, '{"path":"a"}'),
        stop(1),
      )
      expect(parts.filter(({ kind }) => kind === 'call_arguments')).toMatchObject([
        { text: '{"path":"a"}' },
      ])
      const begun = parts.find(({ kind }) => kind === 'call_start')?.index
      expect(parts.find(({ kind }) => kind === 'call_arguments')?.index).not.toBe(begun)
    },
  )

  it('has its arguments written down where they are no text', () => {
    expect(read(start(0, toolUse()), json(0, { path: 'a' })).parts.at(-1)).toEqual(
      part('call_arguments', 0, '{"path":"a"}'),
    )
  })
})

describe('text', () => {
  it('comes from start and deltas, also where its block never began', () => {
    expect(
      read(
        start(0, { type: 'text', text: 'a' }),
        delta(0, { type: 'text_delta', text: 'b' }),
        stop(0),
      ).parts,
    ).toEqual([part('text', 0, 'a'), part('text', 0, 'b')])
    expect(read(delta(4, { type: 'text_delta', text: 'lost' })).parts).toEqual([
      part('text', 0, 'lost'),
    ])
    const after = read(
      start(0, { type: 'thinking' }),
      stop(0),
      delta(0, { type: 'text_delta', text: 'a' }),
      delta(0, { type: 'text_delta', text: 'b' }),
    )
    expect(after.parts.slice(1)).toEqual([part('text', 1, 'a'), part('text', 1, 'b')])
  })
})

describe('thinking', () => {
  it('streams as reasoning and ends as the block that the provider wants back', () => {
    const parts = read(
      start(0, { type: 'thinking', thinking: '', signature: '' }),
      delta(0, { type: 'thinking_delta', thinking: 'a' }),
      delta(0, { type: 'thinking_delta', thinking: 'b' }),
      delta(0, { type: 'signature_delta', signature: 's1' }),
      delta(0, { type: 'signature_delta', signature: 's2' }),
      stop(0),
      stop(0),
    ).parts
    expect(parts.slice(0, 2)).toEqual([part('reasoning', 0, 'a'), part('reasoning', 0, 'b')])
    expect(parts.slice(2)).toEqual([{ ...part('reasoning_block', 0), text: expect.any(String) }])
    expect(JSON.parse(parts[2]?.text ?? '')).toEqual({
      type: 'thinking',
      thinking: 'ab',
      signature: 's1s2',
    })
  })

  it('that is redacted goes back unchanged', () => {
    const block = { type: 'redacted_thinking', data: 'opaque==' }
    expect(read(start(0, block), stop(0)).parts).toEqual([
      part('reasoning_block', 0, JSON.stringify(block)),
    ])
  })

  it('that was cut is no block: the provider would refuse it back', () => {
    const cut = read(
      start(0, { type: 'thinking', thinking: '' }),
      delta(0, { type: 'thinking_delta', thinking: 'a' }),
    ).parts
    expect(cut).toEqual([part('reasoning', 0, 'a')])
  })
})

describe('the end', () => {
  it.each([
    ['end_turn', 'end'],
    ['stop_sequence', 'end'],
    ['tool_use', 'calls'],
    ['max_tokens', 'length'],
    ['model_context_window_exceeded', 'length'],
    ['refusal', 'refusal'],
    ['pause_turn', 'other'],
    ['length', 'length'],
    ['content_filter', 'refusal'],
    ['something_new', 'other'],
  ] as const)('%s means %s', (finish, expected) => {
    expect(
      messageAnswers.stop({
        ...read({ type: 'message_delta', delta: { stop_reason: finish } }),
        over: true,
      }),
    ).toBe(expected)
  })

  it('without a reason is a cut, unless the provider ended the message', () => {
    expect(messageAnswers.stop(messageAnswers.begin({ secret: apiKey }))).toBe('cut')
    expect(messageAnswers.stop({ ...messageAnswers.begin({ secret: apiKey }), over: true })).toBe(
      'other',
    )
  })

  it('may have its reason next to the delta, and keeps the last one that was given', () => {
    expect(read({ type: 'message_delta', stop_reason: 'tool_use' }).finish).toBe('tool_use')
    const deltas = [{ stop_reason: 'tool_use' }, { stop_reason: 'end_turn' }, { stop_reason: null }]
    expect(read(...deltas.map((fields) => ({ type: 'message_delta', delta: fields }))).finish).toBe(
      'end_turn',
    )
  })

  it.each(['null', 'None', ' ', null])('has no reason in %j', (word) => {
    const said = read({
      type: 'message_delta',
      delta: { stop_reason: word },
      stop_reason: 'max_tokens',
    })
    expect(said.finish).toBe('max_tokens')
    expect(messageAnswers.stop(read({ type: 'message_delta', delta: { stop_reason: word } }))).toBe(
      'cut',
    )
  })

  it.each(['max_tokens', 'refusal'])('keeps a finish reason that reports a loss: %s', (sign) => {
    const said = (stop_reason: string) => ({ type: 'message_delta', delta: { stop_reason } })
    expect(read(said(sign), said('tool_use')).finish).toBe(sign)
    expect(read(said('tool_use'), said(sign)).finish).toBe(sign)
    const foretold = { ...begin, message: { ...begin.message, stop_reason: sign } }
    expect(read(foretold, said('tool_use'), { type: 'message_stop' }).finish).toBe(sign)
  })

  it("emits the server's id and usage once", () => {
    const stream = messageAnswers.begin({ secret: apiKey })
    readSent(messageAnswers, stream, null, JSON.stringify(begin))
    const said = [
      { kind: 'provider_said', text: '{"id":"m1","usage":{"input_tokens":7,"output_tokens":1}}' },
    ]
    expect(readSent(messageAnswers, stream, null, '{"type":"message_stop"}')).toMatchObject(said)
    expect(messageAnswers.end(stream)).toEqual([])
  })

  it('by a word for a failure is none', () => {
    expect(
      read(begin, { type: 'message_delta', delta: { stop_reason: 'error' } }).fault,
    ).toMatchObject({
      class: 'transient',
      retryable: true,
    })
  })

  it('has the newest count of each kind of token', () => {
    const sent = { output_tokens: 9, cache_read_input_tokens: 3, cache_creation_input_tokens: 2 }
    expect(
      read(
        begin,
        { type: 'message_delta', delta: {}, usage: sent },
        { type: 'message_delta', usage: { output_tokens: 10 } },
      ).usage,
    ).toEqual({
      inputTokens: 7,
      outputTokens: 10,
      cacheReadTokens: 3,
      cacheWriteTokens: 2,
    })
  })

  it('has no count of the input after a count that cannot be', () => {
    const { usage } = read(
      begin,
      { type: 'message_delta', delta: {}, usage: { output_tokens: -1 } },
      { type: 'message_delta', usage: { output_tokens: 9 } },
    )
    expect(usage).toEqual({
      inputTokens: 0,
      outputTokens: 9,
      cacheReadTokens: 0,
      cacheWriteTokens: 0,
    })
  })
})

describe('an invalid stream', () => {
  it('is harmless where it says nothing: pings, unknown events, the end mark of another protocol, the same start again', () => {
    const message = read(
      begin,
      begin,
      { type: 'ping' },
      '',
      '[DONE]',
      { type: 'new_event' },
      start(0, { type: 'text', text: 'a' }),
      begin,
      stop(0),
    )
    expect(message.parts).toEqual([part('text', 0, 'a')])
    expect(message.fault).toBeUndefined()
  })

  it('has its type in the data, or only in the name of the event', () => {
    const stream = messageAnswers.begin({ secret: '' })
    expect(
      readSent(messageAnswers, stream, null, JSON.stringify(start(0, { type: 'text', text: 'a' }))),
    ).toHaveLength(1)
    expect(
      readSent(
        messageAnswers,
        stream,
        'content_block_start',
        '{"index":1,"content_block":{"type":"text","text":"b"}}',
      ),
    ).toHaveLength(1)
  })

  it('spoils the attempt when another response begins in the middle, or this one anew', () => {
    const other = { ...begin, message: { ...begin.message, id: 'm2' } }
    expect(read(begin, start(0, { type: 'text', text: 'a' }), other).fault).toMatchObject({
      retryable: true,
    })
    expect(
      read(begin, start(0, toolUse()), json(0, '{"pa'), begin, start(0, toolUse())).fault,
    ).toMatchObject({ retryable: true })
  })

  it.each(['ping', '<html>', '"text"', 'null'])(
    'skips a payload that cannot begin an event, and then ignores a bare end: %s',
    (data) => {
      const message = read(begin, start(0, toolUse()), data, json(0, '{}'), stop(0), {
        type: 'message_stop',
      })
      expect(message.fault).toBeUndefined()
      expect(messageAnswers.stop(message)).toBe('cut')
      expect(
        messageAnswers.stop(
          read(data, { type: 'message_delta', delta: { stop_reason: 'tool_use' } }),
        ),
      ).toBe('calls')
    },
  )

  it.each<[string, Event]>([
    ['without a type', { error: { message: 'it broke' } }],
    ['as a text', { error: 'it broke' }],
    ['with a code', { code: 529, message: 'it broke' }],
    ['in a list', [{ error: { message: 'it broke' } }] as unknown as Event],
    ['beside an event that nobody knows', { type: 'completion', error: { message: 'it broke' } }],
  ])('may be an error %s', (_, error) => {
    expect(read(begin, error).fault).toMatchObject({
      class: 'transient',
      reason: expect.stringContaining('it broke'),
    })
  })

  it('bounds the content that is emitted late or never', () => {
    const many = Array.from({ length: limits.responseItemsMax + 1 }, (_, n) =>
      start(n, { type: 'server_tool_use' }),
    )
    expect(read(begin, ...many).fault?.reason).toContain('blocks')
    expect(read(begin, ...many.slice(1)).fault).toBeUndefined()
    const whole = {
      type: 'message_start',
      message: { content: new Array(100_000).fill({ type: 'text', text: '' }) },
    }
    expect(read(whole, { type: 'message_stop' })).toMatchObject({
      fault: { reason: expect.stringContaining('blocks') },
      parts: [{ kind: 'error' }],
    })
    const signature = delta(0, {
      type: 'signature_delta',
      signature: 'x'.repeat(limits.roundPartsBytesMax / 4),
    })
    expect(
      read(begin, start(0, { type: 'thinking' }), ...new Array(5).fill(signature)).fault?.reason,
    ).toContain('signature')
    const usage = Object.fromEntries(Array.from({ length: 100 }, (_, n) => [`n${n}`, n]))
    const counted = [
      { type: 'message_delta', usage },
      { type: 'message_delta', usage: { output_tokens: 3 } },
    ]
    expect(read(begin, ...counted)).toMatchObject({
      rawUsage: { output_tokens: 3 },
      usage: { outputTokens: 3 },
    })
  })

  it.each([['{"type":"content_block_delta","ind'], ['[]']])(
    'spoils the attempt where it cannot be read: %s',
    (data) => {
      const message = read(begin, start(0, toolUse()), data)
      expect(message.fault).toMatchObject({
        code: 'provider.stream',
        class: 'transient',
        retryable: true,
      })
      expect(message.parts.at(-1)?.kind).toBe('error')
    },
  )

  it.each([
    ['overloaded_error', 'transient', true],
    ['api_error', 'transient', true],
    ['rate_limit_error', 'transient', true],
    ['something_new', 'transient', true],
    ['invalid_request_error', 'refused', false],
    ['authentication_error', 'refused', false],
    ['billing_error', 'refused', false],
    ['request_too_large', 'context_full', false],
  ])('an error of type %s in the stream is %s', (type, failureClass, retryable) => {
    const error = { type: 'error', error: { type, message: `it broke with ${apiKey}` } }
    const message = read(begin, start(0, toolUse()), error)
    expect(message.fault).toMatchObject({
      class: failureClass,
      retryable,
      reason: expect.stringContaining('it broke with [key]'),
    })
    expect(message.parts.at(-1)).toMatchObject({
      kind: 'error',
      text: expect.stringContaining(type),
    })
    expect(JSON.stringify(message.parts)).not.toContain(apiKey)
  })

  it.each([
    [401, 'refused'],
    [529, 'transient'],
  ])('an error with the code %d of a gateway is %s', (code, failureClass) => {
    const error = { type: 'error', error: { type: 'gateway_error', code, message: 'no' } }
    expect(read(begin, error).fault).toMatchObject({ class: failureClass })
  })

  it('an error is known without a type, without an object, and its text is bounded', () => {
    expect(read('{"error":{"message":"no type"}}').fault?.reason).toContain('no type')
    const stream = messageAnswers.begin({ secret: '' })
    readSent(messageAnswers, stream, 'error', 'x'.repeat(10_000))
    expect(Buffer.byteLength(stream.fault?.reason ?? '')).toBeLessThanOrEqual(limits.reasonBytesMax)
  })
})
