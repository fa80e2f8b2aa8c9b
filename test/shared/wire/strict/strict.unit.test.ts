// The strict reading of each API: the calls of an answer, the events that may go out before a verdict,
// and the prints of several attempts.

import { describe, expect, it } from '@jest/globals'
import { ownAnswer } from '../../../../apps/http/fronts/proxy/sent-request.ts'
import { repeatedRequest } from '../../../../apps/http/fronts/proxy/veto/attempts.ts'
import { noUsage } from '../../../../shared/contract/turn/no-usage.ts'
import { callsOfAnswer, type ModelAnswer, textOfAnswer } from '../../../../shared/wire/exchange.ts'
import type { Json } from '../../../../shared/wire/format.ts'
import type { FormatName } from '../../../../shared/wire/formats.ts'
import { canBeDenied, type VetoedFormat } from '../../../../shared/wire/proxied.ts'
import { ownAttempt } from '../../../../shared/wire/strict/own-attempt.ts'
import {
  type ClientStream,
  type EventData,
  type StrictAnswer,
  StrictFault,
} from '../../../../shared/wire/strict/strict.ts'
import { strictObject } from '../../../../shared/wire/strict/strict-json.ts'
import { usageSum } from '../../../../shared/wire/strict/usage-sum.ts'
import { modelFormats } from '../../../support/model-formats.ts'

const formatOf = (name: FormatName): VetoedFormat => {
  const format = modelFormats.find((one) => one.name === name)
  if (format === undefined || !canBeDenied(format)) throw new Error(name)
  return format
}
const messages = formatOf('anthropic').strict
const chat = formatOf('openai-chat').strict
const responses = formatOf('openai-responses').strict

type Read = { shown: Json[]; answer: StrictAnswer }

/** The events before the verdict, and the answer. */
function read({ stream }: typeof chat, events: readonly EventData[]): Read {
  const reader = stream()
  const shown = events.flatMap((event) => reader.read(event))
  return { shown, answer: reader.end() }
}

/** The events of a client that gets these attempts, the last one allowed. */
function printed(format: typeof chat, ...attempts: readonly EventData[][]): EventData[] {
  const client: ClientStream = format.client()
  return attempts.flatMap((events, n) => {
    const { shown, answer } = read(format, events)
    const before = client.shown(shown)
    if (n < attempts.length - 1) client.denied(answer)
    return n < attempts.length - 1 ? before : [...before, ...client.rest(answer)]
  })
}

const callsIn = (answer: StrictAnswer) =>
  callsOfAnswer(answer).map(({ id, name, arguments: text }) => [id, name, text])

const ownEnd: Json = {}
const call = { type: 'tool_use', id: 't1', name: 'exec', input: { cmd: 'ls' } }
const begun = (content: Json[] = []): Json => ({
  type: 'message_start',
  message: { id: 'm1', type: 'message', role: 'assistant', model: 'm', content },
})
const ended = (stop_reason: string): Json[] => [
  { type: 'message_delta', delta: { stop_reason }, usage: { output_tokens: 3 } },
  { type: 'message_stop' },
]
const block = (index: number, content_block: Json, ...deltas: Json[]): Json[] => [
  { type: 'content_block_start', index, content_block },
  ...deltas.map((delta) => ({ type: 'content_block_delta', index, delta })),
  { type: 'content_block_stop', index },
]
const text = (index: number, words: string) =>
  block(index, { type: 'text', text: '' }, { type: 'text_delta', text: words })
const input = (partial_json: string) => ({ type: 'input_json_delta', partial_json })
const use = (index: number, ...pieces: string[]) =>
  block(index, { ...call, input: {} }, ...pieces.map(input))

describe('Messages', () => {
  it.each(['constructor', '__proto__'])('refuse a piece of the type %j as a fault', (type) => {
    const events = [begun(), ...block(0, { type: 'text', text: '' }, { type, text: 'Hi.' })]
    expect(() => read(messages, events)).toThrow(StrictFault)
  })

  it('read the text at once and the call with its whole arguments', () => {
    const events = [begun(), ...text(0, 'Hi.'), ...use(1, '{"cmd"', ':"ls"}'), ...ended('tool_use')]
    const { shown, answer } = read(messages, events)
    expect(shown).toEqual([begun(), ...text(0, 'Hi.')])
    expect(callsIn(answer)).toEqual([['t1', 'exec', '{"cmd":"ls"}']])
  })

  it('read a call in the event that begins the message, and print it as a block', () => {
    const events = [begun([call]), ...ended('tool_use')]
    expect(callsIn(read(messages, events).answer)).toEqual([['t1', 'exec', '{"cmd":"ls"}']])
    expect(printed(messages, events)).toEqual([
      begun(),
      ...use(0, '{"cmd":"ls"}'),
      ...ended('tool_use'),
    ])
  })

  it('give the blocks of a later attempt places after the shown ones', () => {
    const refused = [begun(), ...text(0, 'Hi.'), ...use(1, '{}'), ...ended('tool_use')]
    const events = printed(messages, refused, [begun(), ...text(0, 'Done.'), ...ended('end_turn')])
    expect(events.slice(0, -2)).toEqual([begun(), ...text(0, 'Hi.'), ...text(1, 'Done.')])
    expect(events.at(-2)).toMatchObject({ usage: { output_tokens: 6 } })
  })

  it('begin the text of Weir without blank lines, because a block is a paragraph', () => {
    const client = messages.client()
    client.denied(read(messages, [begun(), ...text(0, 'Hi.'), ...ended('end_turn')]).answer)
    const own = ownAttempt(formatOf('anthropic'), client, ownAnswer('w', 'm', 'Weir ends it.'))
    expect(JSON.stringify(own)).toContain('"text":"Weir ends it."')
  })

  it('print thinking with its signature, and tools of the provider with their input', () => {
    const thinking = block(
      ...[0, { type: 'thinking', thinking: '', signature: '' }],
      ...[
        { type: 'thinking_delta', thinking: 'Hm' },
        { type: 'signature_delta', signature: 's/+==' },
      ],
    )
    const search = block(
      1,
      { type: 'server_tool_use', id: 's1', name: 'web_search', input: {} },
      input('{"q":"x"}'),
    )
    const events = [begun([call]), ...thinking, ...search]
    const moved = events.map((event) =>
      typeof event.index === 'number' ? { ...event, index: event.index + 1 } : event,
    )
    expect(printed(messages, [...moved, ...ended('tool_use')])).toEqual([
      ...[begun(), ...use(0, '{"cmd":"ls"}')],
      ...[...moved.slice(1), ...ended('tool_use')],
    ])
  })

  it.each<[string, Json[]]>([
    ['a block of an unknown type', block(0, { type: 'computer_use', id: 'c1', name: 'x' })],
    ['a call behind the end', [...ended('end_turn'), ...use(0, '{}')]],
    ['a second end', [...ended('end_turn'), ...ended('tool_use')]],
    ['a count inside a block', [...use(0, '{}').slice(0, 2), { ...ended('')[0] }]],
    ['a second beginning', [begun()]],
    ['a block at the place of another', [...text(0, 'a'), ...use(0, '{}')]],
    ['a block inside another', [...text(0, 'a').slice(0, 2), ...use(1, '{}')]],
    ['arguments in a text', block(0, { type: 'text', text: '' }, input('{}'))],
    ['a text in a call', block(0, { ...call, input: {} }, { type: 'text_delta', text: '{}' })],
    ['two inputs of a call', block(0, call, input('{"cmd":"rm"}'))],
    ['a call in an unknown member', block(0, { type: 'text', text: '', tool_calls: [call] })],
    ['a call in an unknown event', [{ type: 'vendor_event', block: call }]],
    ['an unknown event of a block', [{ type: 'vendor_event', index: 0 }]],
  ])('refuse %s', (_, events) => {
    expect(() => read(messages, [begun(), ...events, ...ended('end_turn')])).toThrow()
  })

  it('refuse an answer without an end', () => {
    expect(() => read(messages, [begun(), ...use(0, '{}')])).toThrow('the answer was cut')
    expect(() => read(messages, [begun(), ...use(0, '{}'), { type: 'message_stop' }])).toThrow()
  })

  it.each([
    [{ type: 'vendor_event', detail: 'x' }, true],
    [{ type: 'message_delta', delta: { stop_reason: null }, usage: { output_tokens: 3 } }, true],
    [{ type: 'message_delta', delta: { stop_reason: 'tool_use' } }, false],
  ])('may show %j before the verdict: %s', (event, may) => {
    const reader = messages.stream()
    reader.read(begun())
    expect(reader.read(event)).toEqual(may ? [event] : [])
  })

  it.each([
    ['{"cmd":1.50}', '{"cmd":1.50}'],
    ['{bad', '{}'],
    ['[1]', '{}'],
  ])('repeat the arguments %s as %s', (piece, repeated) => {
    const { answer } = read(messages, [begun(), ...use(0, piece), ...ended('tool_use')])
    const [message] = messages.repeated(answer, [], {})
    expect(JSON.stringify(message)).toContain(`"input":${repeated}}`)
  })
})

const about = { id: 'c1', object: 'chat.completion.chunk', created: 1, model: 'm' }
const chunk = (delta: Json, finish_reason: string | null = null): Json => ({
  ...about,
  choices: [{ index: 0, delta, finish_reason }],
})
const piece = (index: number, id: string | undefined, args: string): Json => ({
  ...(id === undefined ? {} : { id, type: 'function' }),
  index,
  function: { ...(id === undefined ? {} : { name: 'exec' }), arguments: args },
})
const calling = (...tool_calls: unknown[]) => chunk({ tool_calls })
const over = [chunk({}, 'tool_calls'), '[DONE]' as const]

describe('Chat Completions', () => {
  it('read an id with more digits than a double holds', () => {
    const events = ['[1e400]', '9007199254740993'].map((id) =>
      strictObject(JSON.stringify(chunk({ content: 'Hi.' }, 'stop')).replace('"c1"', id)),
    )
    const ids = events.map((event) => read(chat, [event, '[DONE]']).answer.id)
    expect(ids).toEqual(['[1e400]', '9007199254740993'])
  })

  it('join the pieces of a call, also if all calls have one index', () => {
    const events = [
      ...[calling(piece(0, 'c1', '{"a"')), calling(piece(0, undefined, ':1}'))],
      ...[calling(piece(0, 'c2', '{"b"')), calling(piece(0, undefined, ':2}')), ...over],
    ]
    const { answer } = read(chat, events)
    expect(callsIn(answer)).toEqual([
      ['c1', 'exec', '{"a":1}'],
      ['c2', 'exec', '{"b":2}'],
    ])
    expect(chat.repeated(answer, [], {})[0]?.tool_calls).toEqual([
      { id: 'c1', type: 'function', function: { name: 'exec', arguments: '{"a":1}' } },
      { id: 'c2', type: 'function', function: { name: 'exec', arguments: '{"b":2}' } },
    ])
    const calls = printed(chat, events).flatMap((event) =>
      JSON.stringify(event).includes('tool_calls":[') ? [event] : [],
    )
    expect(calls).toEqual([
      calling({ index: 0, id: 'c1', type: 'function', function: { name: 'exec', arguments: '' } }),
      calling({ index: 0, function: { arguments: '{"a":1}' } }),
      calling({ index: 1, id: 'c2', type: 'function', function: { name: 'exec', arguments: '' } }),
      calling({ index: 1, function: { arguments: '{"b":2}' } }),
    ])
  })

  // An SDK refuses a stream whose chunks have no role.
  it.each([
    ['of Weir', [ownEnd]],
    [
      'of an allowed repeat',
      [chunk({ role: 'assistant', content: '' }), chunk({ content: 'Hi.' })],
    ],
  ])('name the role in the answer %s if all chunks before it were held', (_, next) => {
    const first = chunk({ role: 'assistant', content: null, tool_calls: [piece(0, 'c1', '{}')] })
    const client = chat.client()
    const { shown, answer } = read(chat, [first, ...over])
    expect(client.shown(shown)).toEqual([])
    client.denied(answer)
    const isOwn = next[0] === ownEnd
    const repeat = isOwn ? undefined : read(chat, [...next, chunk({}, 'stop'), '[DONE]'])
    const sent = repeat
      ? [...client.shown(repeat.shown), ...client.rest(repeat.answer)]
      : ownAttempt(formatOf('openai-chat'), client, ownAnswer('w', 'm', 'Weir ends it.'))
    const roles = sent.filter((event) => JSON.stringify(event).includes('"role":"assistant"'))
    expect(roles).toEqual(sent.slice(0, 1))
  })

  const entry = { name: 'exec', arguments: '{}' }
  it.each<[string, Json[]]>([
    [
      'a call in an error beside a text',
      [{ ...chunk({ content: 'a' }), error: { tool_calls: [entry] } }],
    ],
    ['a call in an error', [{ error: { code: 1, tool_calls: [entry] } }]],
    ['two choices', [{ ...about, choices: [0, 1].map((index) => ({ index, delta: {} })) }]],
    ['another choice', [{ ...about, choices: [{ index: 1, delta: {} }] }]],
    ['a message beside deltas', [{ ...about, choices: [{ index: 0, message: {}, delta: {} }] }]],
    [
      'a function beside a custom tool',
      [calling({ index: 0, id: 'a', function: entry, custom: {} })],
    ],
    [
      'a wrapper of another type',
      [calling({ index: 0, id: 'a', type: 'custom', function: entry })],
    ],
    ['an unknown type of call', [calling({ index: 0, id: 'a', type: 'computer' })]],
    ['two names', [calling(piece(0, 'a', '')), calling({ index: 0, function: { name: 'rm' } })]],
    ['a call without a name', [calling({ index: 0, id: 'a', function: {} })]],
    ['arguments that are no text', [calling({ index: 0, function: { name: 'x', arguments: {} } })]],
    ['calls in two forms', [calling(piece(0, 'a', '')), chunk({ function_call: entry })]],
    ['calls that are no list', [chunk({ tool_calls: { 0: piece(0, 'a', '') } })]],
    ['an unknown member', [chunk({ content: 'Hi.', tool_call: 'exec' })]],
    ['an unknown call', [chunk({ provider_specific_fields: { mcp_tool_calls: [{ id: 'c1' }] } })]],
    ['a call by its type', [chunk({ something_new: [{ type: 'tool_use', id: 'c1' }] })]],
    ['a call by its members', [chunk({ something_new: entry })]],
    ['a call behind the end', [chunk({}, 'stop'), calling(piece(0, 'a', ''))]],
    ['an event behind the mark', [...over.slice(0, 1), '[DONE]', chunk({})] as Json[]],
  ])('refuse %s', (_, events) => {
    expect(() => read(chat, [...events, ...over])).toThrow()
  })

  it.each([
    [{ function_call: {} }],
    [{ tool_calls: [{ index: 0 }] }],
    [{ tool_calls: [{ index: 1, id: null, type: null, function: null }] }],
    [{ tool_calls: [null] }],
  ])('read no call in a text next to an empty entry: %j', (empty) => {
    const event = chunk({ content: 'Hi.', ...empty })
    const { shown, answer } = read(chat, [event, chunk({}, 'stop'), '[DONE]'])
    expect([shown, callsIn(answer)]).toEqual([[event], []])
  })

  it('refuse a whole answer with a delta, or with two choices', () => {
    const message = { role: 'assistant', content: 'Hi.' }
    const choice = { index: 0, message, finish_reason: 'stop' }
    const body = (...choices: Json[]) => ({ ...about, choices })
    expect(chat.whole(body(choice)).items).toMatchObject([{ kind: 'text', text: 'Hi.' }])
    expect(() => chat.whole(body({ ...choice, delta: message }))).toThrow()
    expect(() => chat.whole(body(choice, { ...choice, index: 1 }))).toThrow()
    expect(() => chat.whole(body({ ...choice, finish_reason: null }))).toThrow()
  })

  it('answer a call of the older form in its form', () => {
    const { answer } = read(chat, [chunk({ function_call: entry }), ...over])
    const [message, result] = chat.repeated(answer, [{ callId: '', name: 'exec', text: 'No.' }], {})
    expect(message).toMatchObject({ role: 'assistant', function_call: entry })
    expect(result).toEqual({ role: 'function', name: 'exec', content: 'No.' })
  })

  it('print a custom call in its form', () => {
    const custom = { name: 'patch', input: '*** Begin' }
    const { answer } = read(chat, [calling({ index: 0, id: 'a', type: 'custom', custom }), ...over])
    expect(callsIn(answer)).toEqual([['a', 'patch', '{"input":"*** Begin"}']])
    expect(chat.repeated(answer, [], {})[0]?.tool_calls).toEqual([
      { id: 'a', type: 'custom', custom },
    ])
  })
})

describe('Responses', () => {
  const response = { id: 'r1', object: 'response', status: 'in_progress', output: [] }
  const created = { type: 'response.created', response }
  const completed = (output: Json[] = []) => ({
    type: 'response.completed',
    response: { ...response, status: 'completed', output },
  })
  const added = (item: Json, output_index = 0) => ({
    type: 'response.output_item.added',
    output_index,
    item,
  })
  const done = (item: Json, output_index = 0) => ({
    type: 'response.output_item.done',
    output_index,
    item,
  })
  const whole = (...items: Json[]) => [
    created,
    ...items.flatMap((item, at) => [added(item, at), done(item, at)]),
    completed(items),
  ]
  const reasoning = { type: 'reasoning', id: 'rs_1', summary: [] }
  const message = { type: 'message', id: 'm1', role: 'assistant', content: [] }
  const exec = { type: 'function_call', id: 'f1', call_id: 'c1', name: 'exec', arguments: '{}' }

  it('repeat reasoning only if the provider can read it', () => {
    const kept = (item: Json, request: Json) =>
      responses.repeated(read(responses, whole(item)).answer, [], request).length
    const encrypted = { ...reasoning, encrypted_content: 'x' }
    expect(kept(reasoning, { store: false })).toBe(0)
    expect(kept(encrypted, { store: false })).toBe(1)
    expect(kept(reasoning, {})).toBe(1)
  })

  it('answer a call with free text in its form', () => {
    const free = { type: 'custom_tool_call', call_id: 'c1', name: 'patch', input: 'x' }
    const { answer } = read(responses, whole(free))
    const results = [{ callId: 'c1', name: 'patch', text: 'No.' }]
    expect(responses.repeated(answer, results, {})).toEqual([
      free,
      { type: 'custom_tool_call_output', call_id: 'c1', output: 'No.' },
    ])
  })

  it.each([
    'local_shell_call',
    'shell_call',
    'apply_patch_call',
    'computer_call',
    'tool_search_call',
  ])('refuse the item %s, which a client runs', (type) =>
    expect(() => read(responses, whole({ type, id: 'x' }))).toThrow(),
  )

  it.each([
    [{ type: 'codex.rate_limits', rate_limits: { primary: { used_percent: 4 } } }],
    [{ type: 'keepalive', sequence_number: 3 }],
  ])('show the event of no item %j at once', (event) => {
    expect(responses.stream().read(event)).toEqual([event])
  })

  it.each<[string, EventData[]]>([
    ['arguments without an item', [{ type: 'response.function_call_arguments.delta', delta: '' }]],
    ['an item without an event', [{ item: exec } as Json]],
    ['an item that becomes a call', [added(message), done(exec)]],
    ['an item with two ends', [added(message), done(message), done(message)]],
    ['an item at the place of another', [added(message), added(exec)]],
    ['another name at the end', [added(exec), done({ ...exec, name: 'rm' })]],
    ['another id at the end', [added(exec), done({ ...exec, call_id: 'c2' })]],
    [
      'arguments that change',
      [
        added({ ...exec, arguments: '' }),
        {
          type: 'response.function_call_arguments.done',
          ...{ item_id: 'f1', output_index: 0, arguments: '{"cmd":"rm"}' },
        },
        done(exec),
      ],
    ],
    [
      'arguments of a text',
      [
        added(message),
        { type: 'response.function_call_arguments.delta', output_index: 0, delta: '{}' },
      ],
    ],
    ['a second answer', [completed(), created]],
    ['another final output', [added(message), done(message), completed([exec])]],
    ['an item that only the end has', [completed([exec])]],
    ['a second end', [completed(), completed([exec])]],
  ])('refuse %s', (_, events) => {
    expect(() => read(responses, [created, ...events, completed()])).toThrow()
  })

  it('print the items of all attempts as one output', () => {
    const events = printed(
      responses,
      whole(message, exec),
      whole({ ...message, id: 'm2' }, { ...exec, call_id: 'c2' }),
    )
    expect(events.at(-1)).toMatchObject({
      response: { id: 'r1', output: [message, { ...message, id: 'm2' }, { call_id: 'c2' }] },
    })
    expect(JSON.stringify(events)).not.toContain('"c1"')
    expect(events.map((event) => (event as Json).sequence_number)).toEqual(events.map((_, n) => n))
  })

  it('become a list in a repeat if the history is one text', () => {
    const sent = '{"input" : "hi","store":false}'
    const request = { text: sent, body: JSON.parse(sent) as Json }
    const made = repeatedRequest(formatOf('openai-responses'), request, [{ a: 1 }])
    expect(made.body.input).toEqual([
      { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'hi' }] },
      { a: 1 },
    ])
    expect(made.text.endsWith(',"store":false}')).toBe(true)
  })
})

const vetoed = modelFormats.filter(canBeDenied)

describe.each(vetoed.map((format) => [format.name, format] as const))(
  'an answer of Weir in %s',
  (_, format) => {
    const usage = { inputTokens: 7, outputTokens: 2, cacheReadTokens: 0, cacheWriteTokens: 0 }
    const denied: ModelAnswer = {
      ...ownAnswer('a1', 'm', 'Hi.'),
      items: [
        { kind: 'text', text: 'Hi.' },
        { kind: 'call', id: 'c1', name: 'exec', arguments: '{}' },
      ],
      stop: 'calls',
      usage,
    }

    it('is the last of several attempts', () => {
      const client = format.strict.client()
      const { shown, answer } = read(format.strict, format.stream.events(denied) as EventData[])
      const before = client.shown(shown)
      const first = format.strict.whole(format.answer.write(denied))
      client.denied({ ...answer, rawUsage: first.rawUsage })
      const own = ownAttempt(format, client, ownAnswer('w', 'm', 'Weir ends it.'))
      const all = read(format.strict, [...before, ...own]).answer
      expect(all).toMatchObject({ id: answer.id, model: answer.model, stop: 'end' })
      expect(textOfAnswer(all).replace('\n\n', '')).toBe('Hi.Weir ends it.')
      expect(callsOfAnswer(all)).toEqual([])
      expect(all.usage).toEqual(usage)
    })

    it('is a whole stream without an attempt before it', () => {
      const own = ownAnswer('w', 'm', 'Weir ends it.')
      const events = ownAttempt(format, format.strict.client(), own)
      const all = read(format.strict, events).answer
      expect(all).toMatchObject({ stop: 'end', usage: noUsage })
      expect(textOfAnswer(all)).toBe('Weir ends it.')
    })
  },
)

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
