import { describe, expect, it } from '@jest/globals'
import fc from 'fast-check'
import {
  addPiece,
  begunCalls,
  hasBegun,
  newPiecedCalls,
} from '../../../../services/accumulator/call-pieces.ts'
import { textFrom } from '../../../../services/accumulator/piece-texts.ts'
import { limits } from '../../../../shared/contract/limits.ts'
import type { PartEvent } from '../../../../shared/contract/messages.ts'
import { readSent } from '../../../../shared/wire/answer-reader.ts'
import { chatAnswers } from '../../../../shared/wire/openai-chat/events.ts'
import { apiKey } from '../../../services/llm-gateway/samples.ts'

type Json = Record<string, unknown>

const offered = ['read', 'write', 'get_weather', 'get', 'gogo']

/**
 * The part events and the final state of the response. A string is sent verbatim. Server metadata
 * is left out.
 */
function read(...payloads: (Json | string)[]) {
  const stream = chatAnswers.begin({ secret: apiKey, model: 'm1' })
  const events = payloads.flatMap((payload) =>
    readSent(
      chatAnswers,
      stream,
      null,
      typeof payload === 'string' ? payload : JSON.stringify(payload),
    ),
  )
  const parts = [...events, ...chatAnswers.end(stream)].filter(
    ({ kind }) => kind !== 'provider_said',
  )
  return { ...stream, parts, stop: chatAnswers.stop(stream), calls: callsOf(parts) }
}

/** The calls that the accumulator makes of the parts, for reading: name, id, arguments. */
function callsOf(parts: PartEvent[]) {
  const pieced = newPiecedCalls(offered)
  for (const part of parts)
    if (part.kind === 'call_piece' || part.kind === 'call_piece_beside') addPiece(pieced, part)
  const unbegun = pieced.calls.filter((call) => !hasBegun(call))
  return [...begunCalls(pieced), ...unbegun].map(({ id, name, pieces }) => ({
    id: id === '' ? null : id,
    name,
    text: textFrom(pieces),
  }))
}

const chunk = (delta: Json, fields: Json = {}): Json => ({
  id: 'r',
  choices: [{ index: 0, delta, finish_reason: null, ...fields }],
})
const tools = (...entries: Json[]) => chunk({ tool_calls: entries })
/** An entry of tool_calls, without its undefined fields. */
const piece = (index: unknown, id: unknown, name: unknown, text: unknown) => ({
  index,
  id,
  function: { name, arguments: text },
})
const call = (index: unknown, id: unknown, name: unknown, text: unknown) =>
  tools(piece(index, id, name, text))
const finish = (reason = 'tool_calls') => chunk({}, { finish_reason: reason })
const done = '[DONE]'
const none = undefined

const a = '{"path":"a"}'
const b = '{"path":"b"}'
const one = (fields: Json = {}) => ({ id: 'c1', name: 'read', text: a, ...fields })
const two = [one(), one({ id: 'c2', text: b })]
describe('a call', () => {
  it('is emitted in pieces as they arrive, each with its id, name and index', () => {
    const sent = read(
      call(0, 'c1', 'read', ''),
      call('0', none, none, '{"path"'),
      tools(piece(none, '', ' ', ':"a"}'), piece(1, 7, 'write', none)),
    )
    const blank = { id: null, name: null, text: '' }
    expect(sent.parts).toEqual([
      { ...blank, kind: 'call_piece', index: 0, id: 'c1', name: 'read' },
      { ...blank, kind: 'call_piece', index: 0, text: '{"path"' },
      { ...blank, kind: 'call_piece', index: -1, text: ':"a"}' },
      { ...blank, kind: 'call_piece_beside', index: 1, id: '7', name: 'write' },
    ])
  })

  it("is emitted with the server's metadata", () => {
    const stream = chatAnswers.begin({ secret: apiKey, model: 'm1' })
    const usage = { prompt_tokens: 3, cost: 0.5 }
    readSent(
      chatAnswers,
      stream,
      null,
      JSON.stringify({
        id: 'r1',
        choices: [{ delta: {}, finish_reason: 'stop', native_finish_reason: 'eos' }],
        usage,
      }),
    )
    expect(chatAnswers.end(stream).map(({ kind, text }) => [kind, JSON.parse(text)])).toEqual([
      ['provider_said', { id: 'r1', nativeFinish: 'eos', usage }],
    ])
  })

  it.each<[string, Json[], Json[]]>([
    // one call
    ['whole in its first piece', [call(0, 'c1', 'read', a)], [one()]],
    [
      'with id and name repeated',
      [call(0, 'c1', 'read', ''), call(0, 'c1', 'read', '{"path":'), call(0, 'c1', 'read', '"a"}')],
      [one()],
    ],
    [
      'with a name repeated, without an id',
      [call(0, none, 'read', '{"path":'), call(0, none, 'read', '"a"}')],
      [one({ id: null })],
    ],
    [
      'with another id on each piece',
      [call(0, 'c1', 'read', ''), call(0, 'x', none, '{"path":'), call(0, 'y', none, '"a"}')],
      [one()],
    ],
    [
      'with an index that nobody knows, while it is open',
      [call(0, 'c1', 'read', ''), call(1, none, none, '{"path":'), call(2, none, none, '"a"}')],
      [one()],
    ],
    [
      'with blank ids after the first',
      [call(0, 'c1', 'read', ''), call(0, '', '', a), call(0, '', '', '')],
      [one()],
    ],
    [
      'with null for what is not said again',
      [call(0, 'c1', 'read', null), call(0, null, null, a), call(0, null, null, null)],
      [one()],
    ],
    [
      'with an id that comes later',
      [call(0, none, 'read', '{"path":'), call(0, 'c1', none, '"a"}')],
      [one()],
    ],
    ['with a number for an id', [call(0, 7, 'read', a)], [one({ id: '7' })]],
    [
      'with its id inside the function',
      [tools({ index: 0, function: { id: 'c1', name: 'read', arguments: a } })],
      [one()],
    ],
    [
      'without an index',
      [call(none, 'c1', 'read', '{"path":'), call(none, none, none, '"a"}')],
      [one()],
    ],
    [
      'without an index, its id repeated',
      [call(none, 'c1', 'read', '{"path":'), call(none, 'c1', none, '"a"}')],
      [one()],
    ],
    [
      'without an index at first',
      [call(none, 'c1', 'read', '{"path":'), call(0, none, none, '"a"}')],
      [one()],
    ],
    [
      'without an index later',
      [call(0, 'c1', 'read', '{"path":'), call(none, none, none, '"a"}')],
      [one()],
    ],
    [
      'with a text for an index',
      [call('0', 'c1', 'read', '{"path":'), call('0', none, none, '"a"}')],
      [one()],
    ],
    [
      'with an index that counts pieces',
      [call(0, 'c1', 'read', ''), call(1, 'c1', none, '{"path":'), call(2, 'c1', none, '"a"}')],
      [one()],
    ],
    [
      'the same with the name',
      [call(0, 'c1', 'read', ''), call(1, 'c1', 'read', '{"path":'), call(2, 'c1', 'read', '"a"}')],
      [one()],
    ],
    [
      'with its name after its arguments',
      [call(0, 'c1', none, a), call(0, none, 'read', none)],
      [one()],
    ],
    [
      'with its name in pieces',
      [call(0, 'c1', 'get_', ''), call(0, none, 'weather', ''), call(0, none, none, a)],
      [one({ name: 'get_weather' })],
    ],
    [
      'with a name in pieces that are alike',
      [call(0, 'c1', 'go', ''), call(0, none, 'go', a)],
      [one({ name: 'gogo' })],
    ],
    [
      'where the first piece is a tool too',
      [call(0, 'c1', 'get', ''), call(0, none, '_weather', a)],
      [one({ name: 'get_weather' })],
    ],
    [
      'with a name that grows',
      [call(0, 'c1', 'get', ''), call(0, none, 'get_wea', ''), call(0, none, 'get_weather', a)],
      [one({ name: 'get_weather' })],
    ],
    [
      'with a name that grows out of the name of another tool',
      [call(0, 'c1', 'get', ''), call(0, none, 'get_weather', ''), call(0, none, none, a)],
      [one({ name: 'get_weather' })],
    ],
    [
      'with a name that grows so, and no id',
      [call(0, none, 'get', ''), call(0, none, 'get_weather', ''), call(0, none, none, a)],
      [one({ id: null, name: 'get_weather' })],
    ],
    [
      'without the wrapping function',
      [tools({ index: 0, id: 'c1', name: 'read', arguments: a })],
      [one()],
    ],
    ['that is not in a list', [chunk({ tool_calls: piece(0, 'c1', 'read', a) })], [one()]],
    [
      'in the older form',
      [
        chunk({ function_call: { name: 'read', arguments: '{"path":' } }),
        chunk({ function_call: { arguments: '"a"}' } }),
      ],
      [one({ id: null })],
    ],
    [
      'in both forms',
      [
        chunk({
          function_call: { name: 'read', arguments: a },
          tool_calls: [piece(0, 'c1', 'read', a)],
        }),
      ],
      [one()],
    ],
    [
      'in the older form first',
      [chunk({ function_call: { name: 'read', arguments: a } }), call(0, 'c1', 'read', a)],
      [one()],
    ],
    [
      'in a message that is not streamed',
      [{ choices: [{ message: { tool_calls: [piece(none, 'c1', 'read', a)] } }] }],
      [one()],
    ],
    [
      'said again in a message at the end',
      [
        call(0, 'c1', 'read', a),
        { choices: [{ message: { tool_calls: [piece(none, 'c1', 'read', a)] } }] },
      ],
      [one()],
    ],
    [
      'only in a message behind the text',
      [
        chunk({ content: 'x' }),
        {
          choices: [
            { delta: {}, message: { content: 'x', tool_calls: [piece(none, 'c1', 'read', a)] } },
          ],
        },
      ],
      [one()],
    ],
    [
      'beside the message, in the choice',
      [chunk({}, { tool_calls: [piece(0, 'c1', 'read', a)] })],
      [one()],
    ],
    [
      'in a choice that is not in a list',
      [{ choices: { delta: { tool_calls: [piece(0, 'c1', 'read', a)] } } }],
      [one()],
    ],
    [
      'with its arguments beside its function',
      [tools({ index: 0, id: 'c1', function: { name: 'read' }, arguments: a })],
      [one()],
    ],
    ['that never gets a name', [call(0, 'c1', none, a)], [one({ name: '' })]],
    ['with a blank name', [call(0, 'c1', ' ', a)], [one({ name: '' })]],
    [
      'without any byte',
      [call(0, 'c1', 'read', ''), call(0, none, none, none)],
      [one({ text: '' })],
    ],
    // its arguments
    [
      'as a value',
      [tools({ index: 0, id: 'c1', function: { name: 'read', arguments: { path: 'a' } } })],
      [one()],
    ],
    [
      'as an empty value',
      [tools({ index: 0, id: 'c1', function: { name: 'read', arguments: {} } })],
      [one({ text: '{}' })],
    ],
    [
      'as a list',
      [tools({ index: 0, id: 'c1', function: { name: 'read', arguments: [1] } })],
      [one({ text: '[1]' })],
    ],
    [
      'as a number',
      [tools({ index: 0, id: 'c1', function: { name: 'read', arguments: 0 } })],
      [one({ text: '0' })],
    ],
    [
      'said again whole',
      [
        call(0, 'c1', 'read', '{"path":'),
        call(0, none, none, '"a"}'),
        call(0, none, none, '{ "path": "a" }'),
      ],
      [one()],
    ],
    [
      'said again whole with id and name',
      [call(0, 'c1', 'read', a), call(0, 'c1', 'read', a)],
      [one()],
    ],
    [
      'said again whole with a name only',
      [call(0, none, 'read', a), call(0, none, 'read', a)],
      [one({ id: null })],
    ],
    [
      'said again in pieces',
      [call(0, 'c1', 'read', a), call(0, none, none, '{"path":'), call(0, none, none, '"a"}')],
      [one()],
    ],
    [
      'that grow',
      [call(0, 'c1', 'read', '{"pa'), call(0, none, none, '{"path":'), call(0, none, none, a)],
      [one()],
    ],
    [
      'after a placeholder',
      [call(0, 'c1', 'read', '{}'), call(0, none, none, '{"path":'), call(0, none, none, '"a"}')],
      [one()],
    ],
    ...['null', '""', '"null"', ' { } ', '{}'].flatMap(
      (placeholder): [string, ReturnType<typeof call>[], ReturnType<typeof one>[]][] => [
        [
          `after the placeholder ${placeholder}`,
          [
            call(0, 'c1', 'read', placeholder),
            call(0, none, none, '{"path":'),
            call(0, none, none, '"a"}'),
          ],
          [one()],
        ],
        [
          `after the placeholder ${placeholder}, the name repeated, no id`,
          [
            call(0, none, 'read', placeholder),
            call(0, none, 'read', '{"path":'),
            call(0, none, 'read', '"a"}'),
          ],
          [one({ id: null })],
        ],
        [
          `after the placeholder ${placeholder}, and again whole`,
          [call(0, 'c1', 'read', placeholder), call(0, 'c1', 'read', a), call(0, 'c1', 'read', a)],
          [one()],
        ],
        [
          `beside a placeholder ${placeholder} under another word`,
          [tools({ ...piece(0, 'c1', 'read', a), parameters: placeholder })],
          [one()],
        ],
      ],
    ),
    [
      'after a placeholder, the name repeated, no id',
      [
        call(0, none, 'read', '{}'),
        call(0, none, 'read', '{"path":'),
        call(0, none, 'read', '"a"}'),
      ],
      [one({ id: null })],
    ],
    [
      'said again whole with a name only, twice',
      new Array(3).fill(call(0, none, 'read', a)),
      [one({ id: null })],
    ],
    [
      'said again whole with another id',
      [call(0, 'c1', 'read', '{"path":'), call(0, none, none, '"a"}'), call(0, 'x', 'read', a)],
      [one()],
    ],
    [
      'said again in pieces, with a name only',
      [
        call(0, none, 'read', ''),
        call(0, none, none, a),
        call(0, none, 'read', ''),
        call(0, none, none, a),
      ],
      [one({ id: null })],
    ],
    [
      'that are only the placeholder',
      [call(0, 'c1', 'read', ''), call(0, 'c1', 'read', '{}')],
      [one({ text: '{}' })],
    ],
    // two calls
    ['beside another', [call(0, 'c1', 'read', a), call(1, 'c2', 'read', b)], two],
    ['with gaps in the indexes', [call(1, 'c1', 'read', a), call(3, 'c2', 'read', b)], two],
    [
      'beside another in one chunk',
      [tools(piece(0, 'c1', 'read', a), piece(1, 'c2', 'read', b))],
      two,
    ],
    [
      'interleaved',
      [
        call(0, 'c1', 'read', ''),
        call(1, 'c2', 'read', ''),
        call(1, none, none, b),
        call(0, none, none, a),
      ],
      two,
    ],
    ['with the same index', [call(0, 'c1', 'read', a), call(0, 'c2', 'read', b)], two],
    [
      'the same index, in pieces',
      [
        call(0, 'c1', 'read', ''),
        call(0, none, none, a),
        call(0, 'c2', 'read', ''),
        call(0, none, none, b),
      ],
      two,
    ],
    [
      'the same index, interleaved by id',
      [
        call(0, 'c1', 'read', ''),
        call(0, 'c2', 'read', ''),
        call(0, 'c1', none, a),
        call(0, 'c2', none, b),
      ],
      two,
    ],
    [
      'the same index, no ids',
      [call(0, '', 'read', a), call(0, '', 'read', b)],
      two.map((call) => ({ ...call, id: null })),
    ],
    [
      'the same index, no ids, in pieces',
      [
        call(0, none, 'read', ''),
        call(0, none, none, a),
        call(0, none, 'read', ''),
        call(0, none, none, b),
      ],
      two.map((call) => ({ ...call, id: null })),
    ],
    [
      'the same index, no ids, one chunk',
      [tools(piece(0, '', 'read', a), piece(0, '', 'read', a))],
      [one({ id: null }), one({ id: null })],
    ],
    ['without indexes', [call(none, 'c1', 'read', a), call(none, 'c2', 'read', b)], two],
    [
      'without indexes, in pieces',
      [
        call(none, 'c1', 'read', ''),
        call(none, none, none, a),
        call(none, 'c2', 'read', ''),
        call(none, none, none, b),
      ],
      two,
    ],
    [
      'without indexes and ids',
      [call(none, none, 'read', a), call(none, none, 'write', b)],
      [one({ id: null }), one({ id: null, name: 'write', text: b })],
    ],
    [
      'with the same id',
      [call(0, '0', 'read', a), call(1, '0', 'read', b)],
      two.map((call) => ({ ...call, id: '0' })),
    ],
    [
      'with the same id and no index',
      [call(none, '0', 'read', a), call(none, '0', 'write', b)],
      [one({ id: '0' }), one({ id: '0', name: 'write', text: b })],
    ],
    [
      'after one without arguments',
      [call(0, none, 'get', ''), call(0, none, 'read', a)],
      [one({ id: null, name: 'get', text: '' }), one({ id: null })],
    ],
  ])('may be sent %s', (_, chunks, expected) => {
    expect(read(...chunks, finish(), done).calls).toEqual(expected)
  })

  it.each<[string, Json[], Json[]]>([
    ['two objects in one breath', [call(0, 'c1', 'read', `${a}${a}`)], [one({ text: a + a })]],
    [
      'two different objects',
      [call(0, 'c1', 'read', a), call(0, none, none, b)],
      [one({ text: a + b })],
    ],
    [
      'an end that is none of it',
      [call(0, 'c1', 'read', a), call(0, none, none, '</tool_call>')],
      [one({ text: `${a}</tool_call>` })],
    ],
    [
      'a beginning that is none of it',
      [call(0, 'c1', 'read', 'Sure: '), call(0, none, none, a)],
      [one({ text: `Sure: ${a}` })],
    ],
    [
      'an object in an object',
      [call(0, 'c1', 'read', '{"path":'), call(0, none, none, '{"path":1}}')],
      [one({ text: '{"path":{"path":1}}' })],
    ],
    [
      'an object that says it twice',
      [call(0, 'c1', 'read', '{"a":[{"b":1},'), call(0, none, none, '{"b":1}]}')],
      [one({ text: '{"a":[{"b":1},{"b":1}]}' })],
    ],
    [
      'another object behind a name that came again, in a call with an id',
      [call(0, 'c1', 'read', a), call(0, none, 'read', ''), call(0, none, none, b)],
      [one({ text: a + b })],
    ],
    [
      'JSON in a JSON text',
      [call(0, 'c1', 'read', '"{\\"path\\":\\"a\\"}"')],
      [one({ text: '"{\\"path\\":\\"a\\"}"' })],
    ],
    [
      'two names that are no tool',
      [call(0, 'c1', 'read', ''), call(0, 'c1', 'write', a)],
      [one({ name: 'readwrite' })],
    ],
  ])('is not mended: %s', (_, chunks, expected) => {
    expect(read(...chunks, finish(), done).calls).toEqual(expected)
  })

  it('of a tool with free text is marked once, and comes in pieces too', () => {
    const custom = (fields: Json, entry: Json = {}) => tools({ index: 0, custom: fields, ...entry })
    const { parts, calls } = read(
      custom({ name: 'read', input: '' }, { id: 'c1', type: 'custom' }),
      custom({ input: 'SELECT' }),
      finish(),
    )
    expect(parts.map(({ kind, text }) => [kind, text])).toEqual([
      ['call_piece', ''],
      ['call_free_text', ''],
      ['call_piece', 'SELECT'],
    ])
    expect(calls).toEqual([one({ text: 'SELECT' })])
    expect(
      read(tools({ index: 0, id: 'c1', type: 'custom', name: 'read', input: 'x' })).calls,
    ).toEqual([one({ text: 'x' })])
  })

  it.each([
    ['in its function', { function: { name: 'read', parameters: { path: 'a' } } }, '{"path":"a"}'],
    [
      'beside it',
      { function: { name: 'read', arguments: '' }, input: '{"path":"a"}' },
      '{"path":"a"}',
    ],
    ['without one', { name: 'read', args: { path: 'a' } }, '{"path":"a"}'],
  ])('with arguments under another name %s notes them as those of no call', (_, fields, text) => {
    const { parts, calls } = read(tools({ index: 0, id: 'c1', ...fields }), finish())
    expect(calls).toEqual([one({ text: '' })])
    expect(parts.slice(1).map((part) => [part.kind, part.text])).toEqual([['call_arguments', text]])
  })

  it.each([null, '', {}, '{}'])('says nothing by %j under another name', (parameters) => {
    expect(
      read(tools({ index: 0, id: 'c1', function: { name: 'read', arguments: a, parameters } }))
        .parts,
    ).toHaveLength(1)
  })

  it('passes on numbers as they were sent, also where the arguments are no text', () => {
    const sent =
      '{"choices":[{"delta":{"tool_calls":[{"index":0,"id":"c1","function":{"name":"read","arguments":{"id":12345678901234567890}}}]}}]}'
    expect(read(sent, finish()).calls).toEqual([one({ text: '{"id":12345678901234567890}' })])
  })

  it('never loses argument bytes without a word: those of a call that never began are kept apart', () => {
    const { calls } = read(call(0, 'c1', 'read', a), call(5, none, none, b), finish())
    expect(calls).toEqual([one(), { id: null, name: '', text: b }])
  })

  it('is refused with all others once one exceeds the limit', () => {
    const many = Array.from({ length: limits.responseCallsMax + 50 }, (_, n) =>
      call(n, `c${n}`, 'read', a),
    )
    expect(read(...many, finish()).calls).toHaveLength(limits.responseCallsMax + 1)
  })

  it('gives the same result for any cut and any repetition of its pieces', () => {
    const cut = (text: string, at: number[]) => {
      const ends = [...new Set(at.map((n) => n % (text.length + 1)))].sort((x, y) => x - y)
      return [...ends, text.length].map((end, n) => text.slice(n === 0 ? 0 : ends[n - 1], end))
    }
    const aCall = fc.record({
      value: fc.dictionary(fc.string({ maxLength: 5 }), fc.jsonValue({ maxDepth: 2 })),
      cuts: fc.array(fc.nat(200), { maxLength: 6 }),
    })
    const style = fc.record({
      index: fc.constantFrom('each', 'zero', 'none'),
      ids: fc.boolean(),
      names: fc.boolean(),
    })
    fc.assert(
      fc.property(
        fc.array(aCall, { minLength: 1, maxLength: 4 }),
        style,
        (made, { index, ids, names }) => {
          const chunks = made.flatMap(({ value, cuts }, n) =>
            ['', ...cut(JSON.stringify(value), cuts)].map((text, k) =>
              call(
                index === 'each' ? n : index === 'zero' ? 0 : none,
                k === 0 || ids ? `c${n}` : none,
                k === 0 || names ? 'read' : none,
                text,
              ),
            ),
          )
          const expected = made.map(({ value }, n) =>
            one({ id: `c${n}`, text: JSON.stringify(value) }),
          )
          expect(read(...chunks, finish(), done).calls).toEqual(expected)
        },
      ),
    )
  })
})

describe('several choices', () => {
  const split = (second: Json, first: Json = {}): Json[] => [
    chunk({ content: 'I look.' }),
    { choices: [{ index: 1, delta: { tool_calls: [piece(0, 'c1', 'read', '{"path":')] } }] },
    { choices: [{ index: 1, delta: { tool_calls: [piece(0, none, none, '"a"}')] }, ...second }] },
    chunk({}, first),
  ]

  it('are one answer where the first one has text and another has nothing but calls', () => {
    expect(
      read(...split({ finish_reason: 'tool_calls' }, { finish_reason: 'tool_calls' }), done),
    ).toMatchObject({
      calls: [one()],
      stop: 'calls',
      parts: [{ kind: 'text' }, { kind: 'call_piece' }, { kind: 'call_piece' }],
    })
    const message = {
      message: { tool_calls: [piece(none, 'c1', 'read', a)] },
      finish_reason: 'tool_calls',
    }
    const whole = {
      choices: [{ message: { content: 'I look.' }, finish_reason: 'tool_calls' }, message],
    }
    expect(read(whole)).toMatchObject({ calls: [one()], stop: 'calls' })
    const more = { ...message, message: { tool_calls: [piece(none, 'c2', 'read', b)] } }
    expect(read({ choices: [...whole.choices, more] }).calls).toEqual(two)
  })

  it('may have the same index, and are read one after another then', () => {
    const calls = { index: 0, delta: { tool_calls: [piece(0, 'c1', 'read', a)] } }
    expect(
      read({ choices: [{ index: 0, delta: { content: 'a' } }, calls] }, finish()),
    ).toMatchObject({ calls: [one()], stop: 'calls' })
  })

  it.each([
    [
      'the first one has a call',
      [{ choices: [{ index: 0, delta: { tool_calls: [piece(0, 'c0', 'read', b)] } }] }],
      [one({ id: 'c0', text: b })],
    ],
    ['the other one has a text too', [{ choices: [{ index: 1, delta: { content: 'a' } }] }], []],
  ])('are alternative answers if %s', (_, more, expected) => {
    expect(read(...split({}), ...more, finish(), done).calls).toEqual(expected)
  })

  it('are cut if one of them was cut or has no finish reason', () => {
    expect(read(...split({ finish_reason: 'length' }, { finish_reason: 'stop' }), done).stop).toBe(
      'length',
    )
    expect(read(...split({}, { finish_reason: 'stop' })).stop).toBe('cut')
    expect(read(...split({}, { finish_reason: 'stop' }), done).stop).toBe('cut')
    expect(read(...split({}), done).stop).toBe('cut')
    expect(read(...split({}, { finish_reason: 'tool_calls' }), done).stop).toBe('calls')
    expect(read(...split({ finish_reason: 'tool_calls' })).stop).toBe('calls')
    expect(read(...split({ finish_reason: 'error' })).fault).toMatchObject({
      code: 'provider.stream',
    })
  })

  it('fail together, and are bounded together', () => {
    expect(
      read(chunk({ content: 'a' }), { choices: [{ index: 1, error: { message: 'no' } }] }).fault
        ?.reason,
    ).toContain('no')
    const large = {
      choices: [{ index: 1, delta: { tool_calls: [piece(0, 'c1', 'read', 'x'.repeat(1 << 20))] } }],
    }
    expect(read(chunk({ content: 'a' }), ...new Array(7).fill(large)).fault?.reason).toContain(
      'too large',
    )
  })
})

describe('a response that begins anew', () => {
  const role = (id: string, fields: Json = {}) => ({
    ...chunk({ role: 'assistant', ...fields }),
    id,
  })
  const said = (id: string, content = 'a') => ({ ...chunk({ content }), id })

  it.each([
    [
      'with an empty beginning',
      [role('r1', { content: '' }), said('r1'), role('r2', { content: '' }), said('r2')],
    ],
    ['with its first words', [role('r1'), said('r1'), said('r1'), role('r2', { content: 'a' })]],
    ['under ids that change', [role('r1'), said('x'), role('r2', { content: null })]],
  ])('under another id is none: %s', (_, chunks) => {
    expect(read(...chunks, finish('stop'), done).fault).toMatchObject({
      retryable: true,
      reason: expect.stringContaining('in the middle'),
    })
  })

  it.each([
    [
      'a role in each chunk, under an id of its own',
      [role('r1', { content: 'a' }), role('r2', { content: 'b' })],
    ],
    ['ids that change', [role('r1'), said('r2'), said('r3')]],
    [
      'ids that change and a role now and then',
      [role('r1'), said('r2'), role('r3', { content: 'c' })],
    ],
    ['the role again under the same id', [role('r1'), said('r1'), role('r1', { content: '' })]],
    [
      'a last chunk of another',
      [
        role('r1'),
        said('r1'),
        { ...chunk({ role: 'assistant', content: '' }, { finish_reason: 'stop' }), id: 'r2' },
      ],
    ],
    [
      'no id',
      [chunk({ role: 'assistant' }), said('r1'), chunk({ role: 'assistant', content: '' })].map(
        ({ id: _, ...rest }: Json) => rest,
      ),
    ],
  ])('is not one with %s', (_, chunks) => {
    expect(read(...chunks, finish('stop'), done).fault).toBeUndefined()
  })
})

describe('text', () => {
  const texts = (...payloads: (Json | string)[]) =>
    read(...payloads, finish('stop'), done).parts.map(({ kind, text }) => [kind, text])

  it('is emitted as it arrives, with one index per kind', () => {
    const { parts } = read(
      chunk({ reasoning_content: 'hm' }),
      chunk({ content: 'a' }),
      chunk({ content: 'b' }),
      finish('stop'),
    )
    expect(parts.slice(0, 3)).toEqual([
      { kind: 'reasoning', index: 0, id: null, name: null, text: 'hm' },
      { kind: 'text', index: 1, id: null, name: null, text: 'a' },
      { kind: 'text', index: 1, id: null, name: null, text: 'b' },
    ])
  })

  it('may be a list of parts, of which some are thinking', () => {
    const content = [
      { type: 'thinking', thinking: [{ type: 'text', text: 'hm' }] },
      { type: 'text', text: 'a' },
      { type: 'reference' },
      null,
    ]
    expect(texts(chunk({ content }))).toEqual([
      ['reasoning', 'hm'],
      ['text', 'a'],
      ['reasoning_block', '{"model":"m1","content_thinking":"hm"}'],
    ])
    expect(texts(chunk({ content: [{ type: 'thinking', thinking: 'hm' }] }))[0]).toEqual([
      'reasoning',
      'hm',
    ])
  })

  it('may be a whole message of a server that does not stream', () => {
    const whole = {
      choices: [
        { message: { role: 'assistant', content: 'a', reasoning: 'hm' }, finish_reason: 'stop' },
      ],
    }
    expect(read({ choices: [] }, whole)).toMatchObject({
      stop: 'end',
      parts: [{ kind: 'text', text: 'a' }, { kind: 'reasoning' }, { kind: 'reasoning_block' }],
    })
  })

  it('is not doubled by a message after the pieces', () => {
    expect(texts(chunk({ content: 'a' }), { choices: [{ message: { content: 'a' } }] })).toEqual([
      ['text', 'a'],
    ])
  })

  it('of another choice than the first is passed over', () => {
    expect(
      texts(
        { choices: [{ index: 1, delta: { content: 'a' } }] },
        { choices: [{ index: 2, delta: { content: 'b' } }] },
      ),
    ).toEqual([['text', 'a']])
  })

  it('does not hold a refusal, which comes apart, and the response is one', () => {
    const refused = read(
      chunk({ content: null, refusal: '' }),
      chunk({ refusal: 'I will ' }),
      chunk({ refusal: 'not.' }),
      finish('stop'),
      done,
    )
    expect(refused.parts.map(({ kind, text }) => [kind, text])).toEqual([
      ['refusal', 'I will '],
      ['refusal', 'not.'],
    ])
    expect(refused).toMatchObject({ stop: 'refusal', finish: 'stop' })
  })
})

describe('reasoning', () => {
  const block = (...payloads: Json[]) => {
    const { parts } = read(...payloads, finish('stop'), done)
    return parts.flatMap(({ kind, text }) => (kind === 'reasoning_block' ? [JSON.parse(text)] : []))
  }

  it.each(['reasoning_content', 'reasoning'])(
    'that comes as %s streams, and ends as one block that names its field and its model',
    (field) => {
      expect(
        block(
          chunk({ [field]: 'a' }),
          chunk({ content: '', [field]: null }),
          chunk({ [field]: 'b' }),
        ),
      ).toEqual([{ model: 'm1', [field]: 'ab' }])
    },
  )

  it('that comes in both fields is emitted once', () => {
    const { parts } = read(chunk({ reasoning_content: 'a', reasoning: 'a' }), finish('stop'))
    expect(parts.filter(({ kind }) => kind === 'reasoning')).toHaveLength(1)
  })

  it('is followed by the extra content that a server requires back', () => {
    const signed = tools({
      ...piece(0, 'c0', 'read', a),
      extra_content: { google: { thought_signature: 's1' } },
    })
    expect(read(signed).parts.map(({ kind, name, text }) => [kind, name, text])).toEqual([
      ['call_piece', 'read', a],
      ['call_extra', 'm1', '{"google":{"thought_signature":"s1"}}'],
    ])
  })

  it('leaves out data that is nested too deeply', () => {
    const deep = JSON.parse(
      `${'{"a":'.repeat(limits.argumentDepthMax)}1${'}'.repeat(limits.argumentDepthMax)}`,
    )
    expect(read(tools({ ...piece(0, 'c1', 'read', a), extra_content: deep })).parts).toHaveLength(1)
  })

  it('that was cut is no block', () => {
    expect(read(chunk({ reasoning_content: 'a' })).parts.map(({ kind }) => kind)).toEqual([
      'reasoning',
    ])
  })
})

describe('the end', () => {
  it.each([
    ['stop', 'end'],
    ['eos', 'end'],
    ['tool_calls', 'calls'],
    ['function_call', 'calls'],
    ['length', 'length'],
    ['max_tokens', 'length'],
    ['content_filter', 'refusal'],
    ['STOP', 'end'],
    ['FinishReason.STOP', 'end'],
    ['COMPLETE', 'end'],
    ['done', 'end'],
    ['stop_sequence', 'end'],
    ['ToolCalls', 'calls'],
    ['tool_use', 'calls'],
    ['FINISH_REASON_MAX_TOKENS', 'length'],
    ['FinishReason.MAX_TOKENS', 'length'],
    ['MaxTokens', 'length'],
    ['max-tokens', 'length'],
    ['max_new_tokens', 'length'],
    ['max_length', 'length'],
    ['output_token_limit', 'length'],
    ['context_length_exceeded', 'length'],
    ['model_context_window_exceeded', 'length'],
    ['incomplete', 'length'],
    ['ContentFilter', 'refusal'],
    ['RECITATION', 'refusal'],
    ['PROHIBITED_CONTENT', 'refusal'],
    ['BLOCKLIST', 'refusal'],
    ['SPII', 'refusal'],
    ['ERROR_TOXIC', 'refusal'],
    ['moderation', 'refusal'],
    ['something_new', 'other'],
  ] as const)('%s means %s', (reason, stop) => {
    expect(read(finish(reason))).toMatchObject({ stop, finish: reason })
  })

  it('without a word is a cut, but not where the end mark came after something', () => {
    expect(read(chunk({ content: 'a' })).stop).toBe('cut')
    expect(read(chunk({ content: 'a' }), done).stop).toBe('other')
    expect(read(done).stop).toBe('cut')
    expect(read({ choices: [], usage: {} }, done).stop).toBe('cut')
  })

  it('is the output limit if any reason says it, also the one behind a gateway', () => {
    expect(
      read(chunk({}, { finish_reason: 'tool_calls', native_finish_reason: 'MAX_TOKENS' })),
    ).toMatchObject({
      stop: 'length',
      finish: 'tool_calls',
    })
    expect(read(finish('length'), finish('stop'))).toMatchObject({ stop: 'length', finish: 'stop' })
  })

  it('may be repeated, and null means nothing', () => {
    expect(read(finish('tool_calls'), finish('tool_calls'), chunk({}), done)).toMatchObject({
      stop: 'calls',
      finish: 'tool_calls',
    })
  })

  it.each(['null', 'None', ' ', '', {}, 7, 'FINISH_REASON_UNSPECIFIED'])(
    '%j is no word',
    (word) => {
      expect(read(call(0, 'c1', 'read', a), chunk({}, { finish_reason: word }))).toMatchObject({
        stop: 'cut',
        finish: '',
      })
      expect(
        read(finish('length'), chunk({}, { finish_reason: word, native_finish_reason: word })),
      ).toMatchObject({
        stop: 'length',
        finish: 'length',
        nativeFinish: '',
      })
    },
  )

  it('may be an object that says of which type it is', () => {
    expect(read(chunk({}, { finish_reason: { type: 'length', length: 16 } }))).toMatchObject({
      stop: 'length',
      finish: 'length',
    })
    expect(
      read(chunk({}, { finish_reason: 'stop', finish_details: { type: 'max_tokens' } })).stop,
    ).toBe('length')
    expect(read(chunk({}, { finish_reason: { type: 'abort' } })).fault?.reason).toContain("'abort'")
  })

  it('is none for a call that only began with it, until the end mark or another word comes', () => {
    const began = chunk({ tool_calls: [piece(0, 'c1', 'read', '')] }, { finish_reason: 'stop' })
    expect(read(finish('stop'), began).stop).toBe('cut')
    expect(read(finish('stop'), call(0, 'c1', 'read', '')).stop).toBe('cut')
    // A word that has been wrong once says nothing more.
    expect(read(finish('stop'), call(0, 'c1', 'read', ''), finish('stop')).stop).toBe('cut')
    expect(read(finish('stop'), call(0, 'c1', 'read', ''), finish('stop'), done).stop).toBe('end')
    expect(
      read(
        finish('stop'),
        call(0, 'c1', 'read', ''),
        finish('stop'),
        call(0, none, none, a),
        finish('stop'),
      ).stop,
    ).toBe('end')
    expect(read(began, done).stop).toBe('end')
    expect(read(began, finish('stop')).stop).toBe('end')
    expect(read(began, call(0, none, none, a)).stop).toBe('end')
    expect(
      read(chunk({ tool_calls: [piece(0, 'c1', 'read', a)] }, { finish_reason: 'stop' })).stop,
    ).toBe('end')
    const whole = {
      choices: [
        { message: { tool_calls: [piece(none, 'c1', 'read', '')] }, finish_reason: 'stop' },
      ],
    }
    expect(read(whole).stop).toBe('end')
    const closing = chunk({ tool_calls: [piece(0, none, none, '')] }, { finish_reason: 'stop' })
    expect(read(call(0, 'c1', 'read', a), closing).stop).toBe('end')
    expect(
      read(
        chunk(
          { tool_calls: [piece(0, 'c1', 'read', ''), piece(1, 'c2', 'read', a)] },
          { finish_reason: 'stop' },
        ),
      ).stop,
    ).toBe('cut')
  })

  it('is none for a call that begins after it with `{}`, which may stand there for arguments to come', () => {
    const began = call(1, 'c2', 'read', '{}')
    expect(read(finish('stop'), began).stop).toBe('cut')
    expect(read(finish('stop'), began, done).stop).toBe('end')
    expect(read(finish('stop'), began, finish('stop')).stop).toBe('end')
    expect(read(finish('stop'), began, call(1, none, none, a)).stop).toBe('end')
    expect(
      read(
        finish('stop'),
        chunk({ tool_calls: [piece(1, 'c2', 'read', '{}')] }, { finish_reason: 'stop' }),
      ).stop,
    ).toBe('end')
  })

  it.each(['truncated', 'partial', 'cut_off', 'out_of_tokens', 'budget_exceeded'])(
    '%s says that something was cut',
    (reason) => {
      expect(read(chunk({ content: 'a' }), finish(reason)).stop).toBe('length')
    },
  )

  it('is a refusal where it says only that the language is not supported', () => {
    expect(read(chunk({ content: 'a' }), finish('LANGUAGE')).stop).toBe('refusal')
  })

  it('is a failure if the server behind a gateway reports one', () => {
    const sent = read(
      call(0, 'c1', 'read', a),
      chunk({}, { finish_reason: 'tool_calls', native_finish_reason: 'MALFORMED_FUNCTION_CALL' }),
    )
    expect(sent.fault?.reason).toContain("'MALFORMED_FUNCTION_CALL'")
  })

  it.each([
    ...[
      'error',
      'network_error',
      'abort',
      'insufficient_system_resource',
      'USER_CANCEL',
      'failed',
      'interrupted',
      'timed_out',
      'timeout',
    ],
    ...[
      'malformed_tool_use',
      'UNEXPECTED_TOOL_CALL',
      'server_error',
      'rate_limit',
      'function_call_filter: MALFORMED_FUNCTION_CALL',
    ],
    ...[
      'engine_overloaded',
      'preempted',
      'evicted',
      'killed',
      'client_disconnect',
      'invalid_tool_call',
      'deadline_exceeded',
    ],
  ])('%s is none: another attempt may fare better', (reason) => {
    expect(read(chunk({ content: 'a' }), finish(reason)).fault).toMatchObject({
      class: 'transient',
      retryable: true,
    })
  })
})

describe('tokens', () => {
  it.each<[string, Json, number[]]>([
    [
      'with cached ones apart',
      { prompt_tokens: 100, completion_tokens: 5, prompt_tokens_details: { cached_tokens: 60 } },
      [40, 5, 60, 0],
    ],
    [
      'with ones written to the cache',
      {
        prompt_tokens: 100,
        completion_tokens: 5,
        prompt_tokens_details: { cached_tokens: 60, cache_write_tokens: 30 },
      },
      [10, 5, 60, 30],
    ],
    [
      'with cached ones in a field of their own',
      { prompt_tokens: 100, completion_tokens: 5, prompt_cache_hit_tokens: 60 },
      [40, 5, 60, 0],
    ],
    [
      'with thinking that only the total has',
      { prompt_tokens: 100, completion_tokens: 5, total_tokens: 130 },
      [100, 30, 0, 0],
    ],
    [
      'that cannot be',
      {
        prompt_tokens: -1,
        completion_tokens: 1.5,
        total_tokens: '9',
        prompt_tokens_details: { cached_tokens: 7 },
      },
      [0, 0, 0, 0],
    ],
    ['with one that cannot be', { prompt_tokens: 1e308, completion_tokens: 1 }, [0, 0, 0, 0]],
  ])(
    'are counted %s',
    (_, usage, [inputTokens, outputTokens, cacheReadTokens, cacheWriteTokens]) => {
      expect(read({ choices: [], usage }).usage).toEqual({
        inputTokens,
        outputTokens,
        cacheReadTokens,
        cacheWriteTokens,
      })
    },
  )

  it('are the newest ones, wherever they stand', () => {
    const usage = (tokens: number) => ({ prompt_tokens: tokens, completion_tokens: 0 })
    expect(
      read(
        { choices: [], usage: usage(1) },
        { choices: [], x_groq: { usage: usage(2) }, usage: null },
      ).usage.inputTokens,
    ).toBe(2)
    expect(read(chunk({}, { usage: usage(3) }), chunk({})).usage.inputTokens).toBe(3)
  })
})

describe('an invalid stream', () => {
  it('is harmless where it says nothing', () => {
    const nothing = [
      '',
      ' ',
      { choices: [] },
      { choices: [null] },
      { choices: null },
      {},
      chunk({ tool_calls: null }),
      chunk({ tool_calls: [null, 1] }),
    ]
    const sent = read(
      { choices: [], prompt_filter_results: [] },
      ...nothing,
      { choices: [{ delta: null }] },
      chunk({ content: 'a' }),
      finish('stop'),
      done,
    )
    expect(sent.parts).toHaveLength(1)
    expect(sent).toMatchObject({ stop: 'end', fault: undefined })
  })

  it('is passed over where it cannot be a chunk, but then a mere end mark is no end', () => {
    expect(read('ping', chunk({ content: 'a' }), finish('stop'), done)).toMatchObject({
      stop: 'end',
      fault: undefined,
    })
    expect(read(chunk({ content: 'a' }), 'upstream failed', done).stop).toBe('cut')
  })

  it.each(['{"choices":[{"del', '[]', '[{"a"', "{'choices': []}"])(
    'spoils the attempt where it may have been a chunk: %s',
    (payload) => {
      expect(read(call(0, 'c1', 'read', a), payload, finish())).toMatchObject({
        fault: { code: 'provider.stream', class: 'transient', retryable: true },
        parts: [{ kind: 'call_piece' }, { kind: 'error' }],
      })
    },
  )

  it.each<[string, Json | string, string, boolean]>([
    ['an object', { error: { message: 'it broke', type: 'server_error' } }, 'transient', true],
    ['with a status', { error: { message: 'it broke', code: 502 } }, 'transient', true],
    [
      'beside a choice',
      {
        error: { message: 'it broke', code: '429' },
        choices: [{ delta: {}, finish_reason: 'error' }],
      },
      'transient',
      true,
    ],
    [
      'in a choice',
      { choices: [{ delta: {}, error: { message: 'it broke', code: 500 } }] },
      'transient',
      true,
    ],
    ['a text', { error: 'it broke' }, 'transient', true],
    [
      'in the place of a chunk',
      { object: 'error', message: 'it broke', type: 'BadRequestError', code: 400 },
      'refused',
      false,
    ],
    ['a text in a choice', { choices: [{ delta: {}, error: 'it broke' }] }, 'transient', true],
    ['in a delta', { choices: [{ delta: { error: { message: 'it broke' } } }] }, 'transient', true],
    [
      'beside the chunk',
      { choices: [{ delta: {}, finish_reason: 'tool_calls' }], x_groq: { error: 'it broke' } },
      'transient',
      true,
    ],
    [
      'a status of its own beside no choices',
      { choices: null, base_resp: { status_code: 7, status_msg: 'it broke' } },
      'transient',
      true,
    ],
    [
      'a list',
      { errors: [{ message: 'it broke', code: 7 }], success: false, result: {} },
      'transient',
      true,
    ],
    ['a list of texts', { errors: ['it broke'], choices: null }, 'transient', true],
    ['with a code of its own', { error_code: 7, error_msg: 'it broke' }, 'transient', true],
    ['that names its status', { status: 'error', msg: 'it broke' }, 'transient', true],
    ['that was no success', { success: false, msg: 'it broke' }, 'transient', true],
    ['with a detail', { detail: 'it broke' }, 'transient', true],
    [
      'that refuses',
      { error: { message: 'it broke', type: 'invalid_request_error' } },
      'refused',
      false,
    ],
    ['that refuses with a status', { error: { message: 'it broke', code: 401 } }, 'refused', false],
    [
      'about what the model wrote',
      {
        error: {
          message: 'it broke',
          type: 'invalid_request_error',
          code: 'tool_use_failed',
          status_code: 400,
        },
      },
      'transient',
      true,
    ],
  ])('may be an error: %s', (_, payload, failureClass, retryable) => {
    const { fault, parts } = read(chunk({ content: 'a' }), payload)
    expect(fault).toMatchObject({
      class: failureClass,
      retryable,
      reason: expect.stringContaining('it broke'),
    })
    expect(parts.at(-1)?.kind).toBe('error')
  })

  it.each<[string, Json]>([
    ['an empty object', { error: {} }],
    ['a code of zero', { error: { code: 0, message: '' } }],
    ['an empty text', { error: '' }],
    ['a status of zero', { base_resp: { status_code: 0, status_msg: '' } }],
    ['an empty list', { errors: [] }],
    ['nothing beside the chunk', { x_groq: { id: 'q', error: null } }],
  ])('may say that there was no error: %s', (_, fields) => {
    const { fault, calls } = read(
      { ...call(0, 'c1', 'read', a), ...fields },
      { ...fields, choices: null },
      finish(),
      done,
    )
    expect({ fault, calls }).toEqual({ fault: undefined, calls: [one()] })
  })

  it('is an error if its event has that name, with any payload', () => {
    const stream = chatAnswers.begin({ secret: apiKey, model: 'm' })
    expect(readSent(chatAnswers, stream, 'error', `it broke with ${apiKey}`)).toMatchObject([
      { kind: 'error', text: expect.stringContaining('it broke with [key]') },
    ])
    expect(JSON.stringify(stream.fault)).not.toContain(apiKey)
    const other = chatAnswers.begin({ secret: '', model: 'm' })
    readSent(chatAnswers, other, 'error', JSON.stringify({ message: 'x'.repeat(10_000) }))
    expect(Buffer.byteLength(other.fault?.reason ?? '')).toBeLessThanOrEqual(limits.reasonBytesMax)
  })

  it('never throws, and no id is blank', () => {
    const word = fc.oneof(
      fc.constantFrom('', 'read', 'c1', a, '{', '}', '{}', 'x'),
      fc.integer({ max: 2 }),
      fc.constant(null),
      fc.constant({}),
    )
    const anEntry = fc.record(
      {
        index: word,
        id: word,
        function: fc.oneof(word, fc.record({ name: word, arguments: word })),
      },
      { requiredKeys: [] },
    )
    const aDelta = fc.record(
      {
        content: word,
        reasoning: word,
        refusal: word,
        tool_calls: fc.oneof(word, fc.array(anEntry, { maxLength: 3 })),
        function_call: anEntry,
      },
      { requiredKeys: [] },
    )
    const aChoice = fc.oneof(
      word,
      fc.record(
        { index: word, delta: aDelta, message: aDelta, finish_reason: word },
        { requiredKeys: [] },
      ),
    )
    const aChunk = fc.record(
      { choices: fc.oneof(word, fc.array(aChoice, { maxLength: 2 })), usage: word, error: word },
      { requiredKeys: [] },
    )
    fc.assert(
      fc.property(
        fc.array(fc.oneof({ arbitrary: aChunk, weight: 8 }, fc.constantFrom('[DONE]', 'x', '{')), {
          maxLength: 12,
        }),
        (payloads) => {
          const { parts } = read(...payloads)
          for (const { text, id, name } of parts) expect([typeof text, id, name]).not.toContain('')
        },
      ),
    )
  })
})
