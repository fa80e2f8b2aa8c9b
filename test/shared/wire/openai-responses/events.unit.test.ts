import { describe, expect, it } from '@jest/globals'
import { limits } from '../../../../shared/contract/limits.ts'
import type { PartEvent } from '../../../../shared/contract/messages.ts'
import { readSent } from '../../../../shared/wire/answer-reader.ts'
import { responseAnswers } from '../../../../shared/wire/openai-responses/events.ts'
import { proposedFor } from '../../../services/accumulator/stream.ts'
import { apiKey } from '../../../services/llm-gateway/samples.ts'

type Json = Record<string, unknown>

/**
 * The part events and the final state of the response. A string is sent verbatim. Server metadata
 * is left out.
 */
function read(...events: (Json | string)[]) {
  const stream = responseAnswers.begin({ secret: apiKey, model: 'm1' })
  const parts = events.flatMap((event) =>
    readSent(
      responseAnswers,
      stream,
      null,
      typeof event === 'string' ? event : JSON.stringify(event),
    ),
  )
  const all = [...parts, ...responseAnswers.end(stream)].filter(
    ({ kind }) => kind !== 'provider_said',
  )
  return {
    ...stream,
    parts: all,
    stop: responseAnswers.stop(stream),
    calls: callsOf(all, stream.fault === undefined ? responseAnswers.stop(stream) : 'cut'),
  }
}

/** The calls that the accumulator makes of the parts, for reading. */
function callsOf(parts: PartEvent[], stop: ReturnType<typeof responseAnswers.stop>) {
  const { response } = proposedFor(parts, { stop })
  return response.calls.map(({ id, name, raw, source, problem, disputed }) => ({
    id,
    name,
    raw,
    source,
    problem,
    ...(disputed && { disputed }),
  }))
}

const kindsAndTexts = (parts: PartEvent[]) => parts.map(({ kind, text }) => [kind, text])

const a = '{"path":"a"}'
const fc = (fields: Json = {}) => ({
  type: 'function_call',
  id: 'f1',
  call_id: 'c1',
  name: 'read',
  arguments: '',
  ...fields,
})
const whole = fc({ arguments: a, status: 'completed' })
const added = (item: Json, at: number | undefined = 0) => ({
  type: 'response.output_item.added',
  output_index: at,
  item,
})
const done = (item: Json, at: number | undefined = 0) => ({
  type: 'response.output_item.done',
  output_index: at,
  item,
})
const delta = (text: unknown, fields: Json = { item_id: 'f1', output_index: 0 }) => ({
  type: 'response.function_call_arguments.delta',
  delta: text,
  ...fields,
})
const argsDone = (text: unknown, fields: Json = { item_id: 'f1', output_index: 0 }) => ({
  type: 'response.function_call_arguments.done',
  arguments: text,
  ...fields,
})
const completed = (...output: Json[]) => ({
  type: 'response.completed',
  response: { id: 'r1', status: 'completed', output },
})
const incomplete = (reason: string, ...output: Json[]) => ({
  type: 'response.incomplete',
  response: { status: 'incomplete', incomplete_details: { reason }, output },
})
const one = (fields: Json = {}) => ({
  id: 'c1',
  name: 'read',
  raw: a,
  source: 'deltas',
  problem: null,
  ...fields,
})

describe('a call', () => {
  it('is emitted once, although it comes four times', () => {
    const { parts, stop } = read(
      added(fc()),
      delta('{"path"'),
      delta(':"a"}'),
      argsDone(a),
      done(whole),
      completed(whole),
    )
    expect(parts.map(({ kind, index, id, name, text }) => [kind, index, id, name, text])).toEqual([
      ['call_start', 0, 'c1', 'read', ''],
      ['call_arguments', 0, null, null, '{"path"'],
      ['call_arguments', 0, null, null, ':"a"}'],
      ['call_end', 0, null, null, ''],
    ])
    expect(stop).toBe('calls')
  })

  it.each<[string, Json[], Json[]]>([
    [
      'without pieces',
      [added(fc()), argsDone(a), done(whole), completed(whole)],
      [one({ source: 'done' })],
    ],
    ['only in the event that ends the item', [done(whole), completed()], [one({ source: 'done' })]],
    ['only in the one that ends the response', [completed(whole)], [one({ source: 'done' })]],
    [
      'whole in its announcement',
      [added(fc({ arguments: a })), done(whole), completed()],
      [one({ source: 'start' })],
    ],
    ['without an end of the item', [added(fc()), delta(a), argsDone(a), completed()], [one()]],
    [
      'with another id in each event',
      [
        added(fc()),
        delta(a, { item_id: 'x', output_index: 0 }),
        done({ ...whole, id: 'y' }),
        completed({ ...whole, id: 'z' }),
      ],
      [one()],
    ],
    [
      'without a place',
      [added(fc(), undefined), delta(a, { item_id: 'f1' }), done(whole, undefined), completed()],
      [one()],
    ],
    [
      'without an id of the item',
      [
        added(fc({ id: undefined })),
        delta(a, { output_index: 0 }),
        done({ ...whole, id: undefined }),
        completed(),
      ],
      [one()],
    ],
    [
      'named by the id of the call',
      [added(fc()), delta(a, { item_id: 'c1' }), done(whole), completed()],
      [one()],
    ],
    [
      'with nothing that says whose a piece is',
      [added(fc()), delta(a, {}), done(whole), completed()],
      [one()],
    ],
    [
      'with its name at the end',
      [added(fc({ name: '' })), delta(a), done(whole), completed()],
      [one()],
    ],
    [
      'with its name in the event that ends the arguments',
      [added(fc({ name: undefined })), argsDone(a, { item_id: 'f1', name: 'read' }), completed()],
      [one({ source: 'done' })],
    ],
    [
      'without an id of the call',
      [
        added(fc({ call_id: undefined })),
        delta(a),
        done({ ...whole, call_id: undefined }),
        completed(),
      ],
      [one({ id: 'f1' })],
    ],
    [
      'with arguments that are no text',
      [added(fc()), done(fc({ arguments: { path: 'a' } })), completed()],
      [one({ source: 'done' })],
    ],
    ['announced twice', [added(fc()), added(fc()), delta(a), done(whole), completed()], [one()]],
    [
      'with pieces that grow, and whole three times more',
      [added(fc()), delta('{"path"'), delta(a), argsDone(a), done(whole), completed(whole)],
      [one({ disputed: undefined })],
    ],
    ...['{}', 'null', '""', '"null"'].map((placeholder): [string, Json[], Json[]] => [
      `with placeholders ${placeholder} wherever all of it could stand`,
      [
        added(fc()),
        delta(a),
        argsDone(placeholder),
        done(fc({ arguments: placeholder })),
        completed(fc({ arguments: placeholder })),
      ],
      [one({ disputed: true })],
    ]),
    [
      'written otherwise in the whole response',
      [added(fc()), delta(a), done(whole), completed({ ...whole, arguments: '{ "path": "a" }' })],
      [one({ disputed: undefined })],
    ],
    [
      'still in progress in the whole response, after an event that ended it',
      [added(fc()), delta(a), done(whole), completed({ ...whole, status: 'in_progress' })],
      [one()],
    ],
    [
      'with the id of another that ended before it, told apart by its place',
      [
        added(fc()),
        delta(a),
        done(whole),
        added(fc({ id: 'f2' }), 1),
        delta('{"path":"b"}', { item_id: 'f2' }),
        done({ ...whole, id: 'f2', arguments: '{"path":"b"}' }, 1),
        completed(whole, { ...whole, id: 'f2', arguments: '{"path":"b"}' }),
      ],
      [one(), one({ raw: '{"path":"b"}' })],
    ],
    [
      'with pieces that grow',
      [added(fc()), delta('{"path"'), delta(a), done(whole), completed()],
      [one({ disputed: undefined })],
    ],
    [
      'where the end says something else',
      [added(fc()), delta(a), done({ ...whole, arguments: '{"path":"b"}' }), completed()],
      [one({ disputed: true })],
    ],
    [
      'never named',
      [added(fc({ name: '' })), delta(a), completed()],
      [one({ name: '', problem: 'truncated' })],
    ],
    [
      'beside another, interleaved',
      [
        added(fc()),
        added(fc({ id: 'f2', call_id: 'c2' }), 1),
        delta('{"path":', { item_id: 'f2' }),
        delta(a),
        delta('"b"}', { item_id: 'f2' }),
        done(whole),
        done({ ...whole, id: 'f2', call_id: 'c2', arguments: '{"path":"b"}' }, 1),
        completed(),
      ],
      [one(), one({ id: 'c2', raw: '{"path":"b"}' })],
    ],
    [
      'at the same place as another',
      [
        added(fc()),
        delta(a, { item_id: 'f1' }),
        done(whole),
        added(fc({ id: 'f2', call_id: 'c2' })),
        delta(a, { item_id: 'f2' }),
        done({ ...whole, id: 'f2', call_id: 'c2' }),
        completed(),
      ],
      [one(), one({ id: 'c2' })],
    ],
  ])('may be sent %s', (_, events, expected) => {
    expect(read(...events).calls).toEqual(expected)
  })

  it('that the last event gives other ids is not a further one', () => {
    const events = [
      added(fc()),
      delta(a),
      done(whole),
      completed({ ...whole, id: 'x', call_id: 'y' }),
    ]
    expect(read(...events).calls).toEqual([one()])
  })

  it.each<[string, Json[], Json[]]>([
    [
      'where the stream just stops',
      [added(fc()), delta(a), done(whole)],
      [one({ problem: 'truncated' })],
    ],
    [
      'where the limit cut it',
      [
        added(fc()),
        delta('{"pa'),
        incomplete('max_output_tokens', fc({ arguments: '{"pa', status: 'incomplete' })),
      ],
      [one({ raw: '{"pa', problem: 'truncated' })],
    ],
    [
      'where the limit cut the response and it was closed',
      [added(fc()), delta(a), done(whole), incomplete('max_output_tokens')],
      [one({ problem: 'truncated' })],
    ],
    [
      'where a filter cut it',
      [added(fc()), delta(a), done(whole), incomplete('content_filter')],
      [one({ problem: 'truncated' })],
    ],
    [
      'where the item is incomplete',
      [added(fc()), delta(a), done({ ...whole, status: 'incomplete' }), completed()],
      [one({ problem: 'truncated' })],
    ],
    [
      'where the item is incomplete, although its arguments were ended',
      [added(fc()), argsDone(a), done({ ...whole, status: 'incomplete' }), completed()],
      [one({ source: 'done', problem: 'truncated' })],
    ],
    [
      'where only the whole response calls it incomplete',
      [added(fc()), delta(a), argsDone(a), completed({ ...whole, status: 'incomplete' })],
      [one({ problem: 'truncated' })],
    ],
    [
      'where the whole response calls it incomplete after its item was ended',
      [added(fc()), delta(a), done(whole), completed({ ...whole, status: 'incomplete' })],
      [one({ problem: 'truncated' })],
    ],
    [
      'where it still goes on in the whole response',
      [added(fc()), delta(a), completed({ ...whole, status: 'in_progress' })],
      [one({ problem: 'truncated' })],
    ],
    [
      'where it stands only in the whole response, and still goes on there',
      [completed({ ...whole, status: 'in_progress' })],
      [one({ source: 'done', problem: 'truncated' })],
    ],
    [
      'where pieces of it were lost on the way: two later texts agree against them',
      [added(fc()), delta('{"path":'), delta('""}'), argsDone(a), done(whole), completed(whole)],
      [one({ raw: '{"path":""}', problem: 'lost_arguments', disputed: true })],
    ],
    [
      'where the whole response says other arguments than the item',
      [
        added(fc()),
        delta(a),
        argsDone(a),
        done(whole),
        completed({ ...whole, arguments: '{"path":"b"}' }),
      ],
      [one({ problem: 'lost_arguments', disputed: true })],
    ],
    [
      'where the item says other arguments than the event that ended them',
      [added(fc()), argsDone(a), done({ ...whole, arguments: '{"path":"b"}' }), completed()],
      [one({ source: 'done', problem: 'lost_arguments', disputed: true })],
    ],
    [
      'where nothing ended it',
      [added(fc()), delta(a), completed()],
      [one({ problem: 'truncated' })],
    ],
    [
      'where an error came',
      [added(fc()), delta(a), { type: 'error', code: 'server_error', message: 'no' }],
      [one({ problem: 'stream_error' })],
    ],
    [
      'where it has no arguments',
      [added(fc()), done(fc({ status: 'completed' })), completed()],
      [one({ raw: '', source: 'none', problem: 'no_arguments' })],
    ],
    [
      'where its arguments may have been meant for another that was open',
      [
        added(fc()),
        added(fc({ id: 'f2', call_id: 'c2' }), 1),
        delta(a, {}),
        done(whole),
        done(fc({ id: 'f2', call_id: 'c2' }), 1),
        completed(),
      ],
      [
        one({ source: 'done' }),
        one({ id: 'c2', raw: '', source: 'none', problem: 'lost_arguments' }),
      ],
    ],
    [
      'where its arguments came for an item that nobody announced',
      [added(fc()), delta(a, { item_id: 'f9', output_index: 9 }), done(fc()), completed()],
      [one({ raw: '', source: 'none', problem: 'lost_arguments' })],
    ],
  ])('does not run %s', (_, events, expected) => {
    expect(read(...events).calls).toEqual(expected)
  })

  it('has its namespace in its name, also if other events have the name alone', () => {
    const one = { ...whole, namespace: 'files' }
    const named = argsDone(a, { item_id: 'f1', output_index: 0, name: 'read' })
    const { calls } = read(added({ ...one, arguments: '' }), named, done(one), completed(one))
    expect(calls).toMatchObject([{ name: 'files.read', raw: a, problem: null }])
  })

  it('of a tool with free text is marked', () => {
    const custom = fc({ type: 'custom_tool_call', arguments: undefined, input: '' })
    const { calls } = read(
      added(custom),
      { type: 'response.custom_tool_call_input.delta', item_id: 'f1', delta: 'SELECT 1' },
      done({ ...custom, input: 'SELECT 1' }),
      completed(),
    )
    expect(calls).toEqual([one({ raw: 'SELECT 1', problem: 'free_text' })])
  })

  it('is none where the provider runs the tool itself, or the item is of an unknown kind', () => {
    const call = { type: 'mcp_call', id: 'f1', name: 'read', arguments: a }
    const { parts } = read(
      added(call),
      { type: 'response.mcp_call_arguments.delta', item_id: 'f1', delta: a },
      delta(a),
      done(call),
      completed(call),
    )
    expect(kindsAndTexts(parts)).toEqual([['kept_apart', JSON.stringify(call)]])
  })
})

describe('text', () => {
  const message = (text: string) => ({
    type: 'message',
    id: 'm1',
    content: [{ type: 'output_text', text }],
  })
  const piece = (text: string) => ({
    type: 'response.output_text.delta',
    item_id: 'm1',
    output_index: 0,
    content_index: 0,
    delta: text,
  })

  it.each<[string, Json[]]>([
    [
      'in pieces',
      [
        added(message('')),
        piece('a'),
        piece('b'),
        { type: 'response.output_text.done', item_id: 'm1', text: 'ab' },
        done(message('ab')),
        completed(message('ab')),
      ],
    ],
    ['of an item that never began', [piece('a'), piece('b'), completed(message('ab'))]],
    [
      'only at its end',
      [
        added(message('')),
        { type: 'response.output_text.done', item_id: 'm1', text: 'ab' },
        completed(message('ab')),
      ],
    ],
    ['only with its item', [done(message('ab')), completed(message('ab'))]],
    ['only with the response', [completed(message('ab'))]],
    [
      'again under another id',
      [added(message('')), piece('ab'), completed({ ...message('ab'), id: 'x' })],
    ],
  ])('is emitted once: %s', (_, events) => {
    const { parts, stop } = read(...events)
    expect([parts.map(({ kind, text }) => (kind === 'text' ? text : kind)).join(''), stop]).toEqual(
      ['ab', 'end'],
    )
  })

  it('in which the model refuses comes apart, and the response is a refusal', () => {
    const refusal = { type: 'message', id: 'm1', content: [{ type: 'refusal', refusal: 'no' }] }
    const { parts, stop } = read(
      added(message('')),
      { type: 'response.refusal.delta', item_id: 'm1', delta: 'no' },
      done(refusal),
      completed(refusal),
    )
    expect([kindsAndTexts(parts), stop]).toEqual([[['refusal', 'no']], 'refusal'])
  })
})

describe('reasoning', () => {
  const item = {
    type: 'reasoning',
    id: 'rs1',
    summary: [{ type: 'summary_text', text: 'hm' }],
    encrypted_content: 'xyz',
  }
  const sent = (n: string) =>
    `{"type":"response.output_item.done","output_index":0,"item":{"type":"reasoning","id":"rs1","encrypted_content":"xyz","n":${n}}}`

  it('streams, and ends as the item that the provider wants back, with its model and the calls before it', () => {
    const shown = {
      type: 'response.reasoning_summary_text.delta',
      item_id: 'rs1',
      output_index: 0,
      delta: 'hm',
    }
    const { parts } = read(
      added({ type: 'reasoning', id: 'rs1', summary: [] }),
      shown,
      done(item),
      completed(item),
    )
    expect(
      parts.map(({ kind, text }) => [kind, kind === 'reasoning' ? text : JSON.parse(text)]),
    ).toEqual([
      ['reasoning', 'hm'],
      ['reasoning_block', { model: 'm1', calls: 0, item }],
    ])
  })

  it('goes back digit by digit', () => {
    expect(read(sent('12345678901234567890')).parts[0]?.text).toContain('12345678901234567890')
  })

  it('between calls says how many came before it', () => {
    const { parts } = read(done(whole), done(item, 1), completed())
    expect(
      parts.flatMap(({ kind, text }) =>
        kind === 'reasoning_block' ? [JSON.parse(text).calls] : [],
      ),
    ).toEqual([1])
  })
})

describe('the end', () => {
  it.each<[string, Json[], string, string]>([
    ['completed', [completed()], 'end', 'completed'],
    ['incomplete by the limit', [incomplete('max_output_tokens')], 'length', 'incomplete'],
    ['incomplete by a filter', [incomplete('content_filter')], 'refusal', 'incomplete'],
    ['incomplete for another reason', [incomplete('steered')], 'length', 'incomplete'],
    [
      'completed, but incomplete',
      [{ type: 'response.completed', response: { status: 'incomplete' } }],
      'length',
      'completed',
    ],
    ['done', [{ type: 'response.done', response: { status: 'completed' } }], 'end', 'completed'],
    [
      'done, by a word of its own',
      [{ type: 'response.done', response: { status: 'done' } }],
      'end',
      'completed',
    ],
    [
      'done, but incomplete',
      [{ type: 'response.done', response: { status: 'incomplete' } }],
      'length',
      'incomplete',
    ],
    ['nothing', [added(fc())], 'cut', ''],
  ])('may be %s', (_, events, stop, finish) => {
    expect(read(...events)).toMatchObject({ stop, finish })
  })

  it('may be the mark of another protocol alone', () => {
    expect(read(added(fc()), done(whole), '[DONE]')).toMatchObject({
      stop: 'other',
      calls: [one({ source: 'done' })],
    })
    expect(read('[DONE]').stop).toBe('cut')
  })

  it.each<[string, Json | string, string, boolean]>([
    [
      'an error event',
      { type: 'error', code: 'server_error', message: 'it broke' },
      'transient',
      true,
    ],
    [
      'one with an object',
      { type: 'error', error: { type: 'insufficient_quota', message: 'it broke' } },
      'refused',
      false,
    ],
    [
      'a failed response',
      {
        type: 'response.failed',
        response: { error: { code: 'rate_limit_exceeded', message: 'it broke' } },
      },
      'transient',
      true,
    ],
    [
      'a response that is done and failed',
      { type: 'response.done', response: { status: 'failed', error: { message: 'it broke' } } },
      'transient',
      true,
    ],
    [
      'a body of an error',
      { error: { message: 'it broke', type: 'invalid_request_error' } },
      'refused',
      false,
    ],
  ])('may be an error: %s', (_, event, failureClass, retryable) => {
    const { fault, parts } = read(event)
    expect(fault).toMatchObject({
      class: failureClass,
      retryable,
      reason: expect.stringContaining('it broke'),
      finish: 'failed',
    })
    expect(parts.at(-1)?.kind).toBe('error')
  })

  it.each([
    ['completed', 'failed'],
    ['completed', 'cancelled'],
    ['done', 'cancelled'],
  ])('called %s is an error where its status is %s', (word, status) => {
    const { fault, calls } = read(added(fc()), delta(a), done(whole), {
      type: `response.${word}`,
      response: { status, output: [whole] },
    })
    expect(fault).toMatchObject({
      retryable: true,
      reason: expect.stringContaining(`as ${status}`),
      finish: status,
    })
    expect(calls).toEqual([one({ problem: 'stream_error' })])
  })

  it.each(['ping', '<html>', '7'])(
    'skips a payload that cannot begin an event, and then ignores a bare end mark: %s',
    (data) => {
      expect(read(added(fc()), data, delta(a), done(whole), completed(whole)).calls).toEqual([
        one(),
      ])
      expect(read(added(fc()), data, delta(a), done(whole), '[DONE]').stop).toBe('cut')
    },
  )

  it.each(['[done]', '"[DONE]"'])('may be the mark in another spelling: %s', (mark) => {
    expect(read(added(fc()), done(whole), mark).stop).toBe('other')
  })

  it('spoils the attempt where another response begins in the middle, but not where this one is announced again', () => {
    const created = (id: string) => ({ type: 'response.created', response: { id } })
    expect(read(created('r1'), added(fc()), created('r2')).fault).toMatchObject({ retryable: true })
    expect(read(created('r1'), created('r2'), added(fc()), created('r2')).fault).toBeUndefined()
  })

  it('spoils the attempt where the arguments of a call without a name never end', () => {
    const piece = delta('x'.repeat(limits.roundPartsBytesMax / 4))
    expect(read(added(fc({ name: '' })), ...new Array(6).fill(piece)).fault?.reason).toContain(
      'too large',
    )
  })

  it('spoils the attempt where it has more items than anybody would send', () => {
    const many = Array.from({ length: limits.responseItemsMax + 1 }, (_, n) =>
      added({ type: 'web_search_call', id: `w${n}` }, n),
    )
    expect(read(...many).fault?.reason).toContain('items')
    expect(read(completed(...many.map(({ item }) => item))).fault?.reason).toContain('items')
    expect(read(...many.slice(1), completed()).fault).toBeUndefined()
    const unannounced = Array.from({ length: limits.responseItemsMax + 500 }, (_, n) => ({
      ...{ type: 'response.output_text.delta', item_id: `m${n}`, output_index: n, delta: 'a' },
    }))
    const { fault, parts } = read(...unannounced)
    expect(fault?.reason).toContain('items')
    expect(parts.length).toBeLessThan(limits.responseItemsMax + 10)
  })

  it.each(['{"type":"response.output', '[]'])(
    'spoils the attempt where an event cannot be read: %s',
    (data) => {
      expect(read(added(fc()), data).fault).toMatchObject({
        code: 'provider.stream',
        retryable: true,
      })
    },
  )

  it("has its tokens without cached ones, and the server's metadata", () => {
    const stream = responseAnswers.begin({ secret: apiKey, model: 'm1' })
    const usage = {
      input_tokens: 100,
      input_tokens_details: { cached_tokens: 60 },
      output_tokens: 5,
    }
    readSent(
      responseAnswers,
      stream,
      null,
      JSON.stringify({
        type: 'response.completed',
        response: { id: 'r1', usage, max_output_tokens: 9 },
      }),
    )
    expect(stream).toMatchObject({
      usage: { inputTokens: 40, outputTokens: 5, cacheReadTokens: 60, cacheWriteTokens: 0 },
      outputTokensMax: 9,
    })
    expect(responseAnswers.end(stream).map(({ kind, text }) => [kind, JSON.parse(text)])).toEqual([
      ['provider_said', { id: 'r1', usage }],
    ])
  })
})
