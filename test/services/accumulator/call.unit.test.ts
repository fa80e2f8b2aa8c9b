import { describe, expect, it } from '@jest/globals'
import { limits } from '../../../shared/contract/limits.ts'
import type { Call, PartEvent, Stop } from '../../../shared/contract/messages.ts'
import { callStart, event, proposedFor } from './stream.ts'

const end = event('call_end')
const deltas = (...texts: string[]): PartEvent[] =>
  texts.map((text) => event('call_arguments', text))
const done = (text: string): PartEvent => event('call_done', text)
const start = (text: string): PartEvent => callStart({ text })

describe('the source of the arguments', () => {
  it.each([
    ['the deltas, joined', [start(''), ...deltas('{"a"', ':1}'), end], '{"a":1}', 'deltas'],
    ['the start input if no delta came', [start('{"a":1}'), end], '{"a":1}', 'start'],
    [
      'the start input if all deltas are empty',
      [start('{"a":1}'), ...deltas('', ''), end],
      '{"a":1}',
      'start',
    ],
    [
      'the deltas if both came whole',
      [start('{"a":1}'), ...deltas('{"a":', '1}'), end],
      '{"a":1}',
      'deltas',
    ],
    [
      'the deltas if the start input is a placeholder',
      [start('{}'), ...deltas('{"a":1}'), end],
      '{"a":1}',
      'deltas',
    ],
    [
      'the deltas if the start input differs',
      [start('{"a":1}'), ...deltas('{"a":2}'), end],
      '{"a":2}',
      'deltas',
    ],
    ['the deltas if they are {}', [start(''), ...deltas('{}'), end], '{}', 'deltas'],
    ['the start input if it is {}', [start('{}'), end], '{}', 'start'],
    ['the done event if no delta came', [start(''), done('{"a":1}'), end], '{"a":1}', 'done'],
    [
      'the done event if the start input differs',
      [start('{"a":2}'), done('{"a":1}'), end],
      '{"a":1}',
      'done',
    ],
    [
      'the deltas if the done event differs',
      [start(''), ...deltas('{"a":1}'), done('{"a":2}'), end],
      '{"a":1}',
      'deltas',
    ],
    [
      'the start of the response',
      [{ ...start('{"a":1}'), kind: 'call_whole' as const }, end],
      '{"a":1}',
      'message_start',
    ],
  ])('is %s', (_, events, raw, source) => {
    expect(call(events)).toMatchObject({ raw, source, problem: null })
  })

  it('is never two sources: deltas that only continue the start input cannot run', () => {
    expect(call([start('{"pattern":"*.c"}'), ...deltas(',"path":"src"}'), end])).toMatchObject({
      raw: ',"path":"src"}',
      source: 'deltas',
      problem: 'invalid_json',
    })
  })

  it.each<[string, PartEvent[], boolean]>([
    ['two equal sources', [start('{"a":1}'), ...deltas('{ "a":', '1}'), end], false],
    ['a start and other deltas', [start('{"a":1}'), ...deltas('{"a":2}'), end], true],
    [
      'numbers that are equal only for JSON.parse',
      [start('{"a":10000000000000001}'), ...deltas('{"a":10000000000000002}'), end],
      true,
    ],
    ['two different done events', [start(''), done('{"a":1}'), done('{"a":2}'), end], true],
    ['one', [start(''), ...deltas('{"a":2}'), end], false],
  ])('is marked as disputed if another source differs: %s', (_, events, disputed) => {
    expect(call(events)).toMatchObject({ disputed, problem: null })
  })

  describe('if the pieces break off and final arguments came', () => {
    const whole = '{"path":"a"}'
    const streamed = (index: number, pieces: string, final: string): PartEvent[] =>
      [
        { ...start(''), id: `c${index}` },
        event('call_arguments', pieces),
        event('call_done', final),
        end,
      ].map((one) => ({ ...one, index }))
    const callsOf = (...events: PartEvent[]) => proposedFor(events).response.calls

    it('is the final text that the pieces begin, and the call is disputed', () => {
      expect(
        callsOf(...streamed(0, '{"path":', whole), ...streamed(1, '{"zone":', '{"zone":1}')),
      ).toMatchObject([
        { raw: whole, source: 'done', disputed: true, problem: null },
        { raw: '{"zone":1}', source: 'done', disputed: true, problem: null },
      ])
    })

    it.each<[string, PartEvent[]]>([
      [
        'begin the final texts of two calls',
        [...streamed(0, '{"path":', whole), ...streamed(1, '{"path":"b"}', '{"path":"b"}')],
      ],
      [
        'begin another final text of the call',
        [...streamed(0, '{"path":', whole).slice(0, 3), event('call_done', '{"path":"b"}'), end],
      ],
      ['do not begin the final text', streamed(0, '{"file":', whole)],
      ['begin a final text that is no object', streamed(0, '["path"', '["path"]')],
      ['begin a final text that breaks off too', streamed(0, '{"path":', '{"path":"')],
    ])('is the pieces, and the call cannot run, if they %s', (_, events) => {
      const [first] = callsOf(...events)
      expect(first).toMatchObject({ source: 'deltas' })
      expect(first?.problem).not.toBeNull()
    })

    it('is the pieces if they are JSON by themselves', () =>
      expect(callsOf(...streamed(0, whole, `${whole} `))).toMatchObject([
        { raw: whole, source: 'deltas', problem: null },
      ]))
  })

  it('is none if no byte came, and {} is not invented', () => {
    expect(call([start(''), end])).toMatchObject({
      raw: '',
      source: 'none',
      problem: 'no_arguments',
    })
    expect(call([start(''), ...deltas('', ''), end])).toMatchObject({
      raw: '',
      source: 'none',
      problem: 'no_arguments',
    })
  })
})

describe('the end of a call', () => {
  const half = [start(''), ...deltas('{"a":"x')]
  const whole = [start(''), ...deltas('{"a":"x"}')]
  const problems = (events: PartEvent[], stops: Stop[]) =>
    stops.map((stop) => call(events, stop).problem)
  const finishing: Stop[] = ['calls', 'end']
  const cutting: Stop[] = ['length', 'cut']
  const unclear: Stop[] = ['other', 'refusal']

  it('counts as seen if the provider closed the call and reported the end of the response', () => {
    expect(problems([...whole, end], [...finishing, 'other'])).toEqual([null, null, null])
  })

  it('counts as missing if the provider left the call open, with any stop reason', () => {
    expect(new Set(problems(whole, [...finishing, ...cutting, ...unclear]))).toEqual(
      new Set(['truncated']),
    )
    expect(new Set(problems([start('{"a":"x"}')], [...finishing, ...cutting, ...unclear]))).toEqual(
      new Set(['truncated']),
    )
  })

  it('counts as missing for the last call of a cut response, even if the call is closed and parses', () => {
    expect(problems([...whole, end], [...cutting, 'refusal'])).toEqual([
      'truncated',
      'truncated',
      'truncated',
    ])
  })

  it('counts as seen for calls before the last one at the output limit, but not after a broken stream', () => {
    const next = [
      callStart({ index: 1 }),
      event('call_arguments', '{"b":1}', 1),
      event('call_end', '', 1),
    ]
    const both = (stop: Stop) =>
      proposedFor([...whole, end, ...next], { stop }).response.calls.map(({ problem }) => problem)
    expect(both('length')).toEqual([null, 'truncated'])
    expect(both('refusal')).toEqual([null, 'truncated'])
    expect(both('cut')).toEqual(['truncated', 'truncated'])
  })

  it('counts as missing for a call without arguments at the output limit: it gets no {}', () => {
    const next = [
      callStart({ index: 1 }),
      event('call_arguments', '{"b":1}', 1),
      event('call_end', '', 1),
    ]
    const { calls } = proposedFor([start(''), end, ...next], { stop: 'length' }).response
    expect(calls[0]?.problem).toBe('truncated')
  })

  it('counts as missing if the stream ended before the first byte', () => {
    expect(problems([start('')], cutting)).toEqual(['truncated', 'truncated'])
    // Also if the server closes a call that the limit cut. Otherwise a tool without required fields
    // would run with {}.
    expect(problems([start(''), end], cutting)).toEqual(['truncated', 'truncated'])
    expect(problems([start(''), end], finishing)).toEqual(['no_arguments', 'no_arguments'])
    // Also if only an end mark or an unknown stop reason ends the response.
    expect(new Set(problems([start(''), end], unclear))).toEqual(new Set(['truncated']))
  })

  it('counts as missing if the text is unfinished and the call was left open', () => {
    expect(new Set(problems(half, [...finishing, ...cutting, ...unclear]))).toEqual(
      new Set(['truncated']),
    )
  })

  it('counts as missing if the output limit cut a call that the server then closed', () => {
    expect(problems([...half, end], cutting)).toEqual(['truncated', 'truncated'])
  })

  it('counts as seen if the call was closed and another began: a half text is then invalid JSON', () => {
    const next = [
      callStart({ index: 1 }),
      event('call_arguments', '{"b', 1),
      event('call_end', '', 1),
    ]
    expect(
      proposedFor([...half, end, ...next], { stop: 'length' }).response.calls.map(
        ({ problem }) => problem,
      ),
    ).toEqual(['invalid_json', 'truncated'])
  })

  it('counts as seen if both call and response were finished: a half text is then invalid JSON', () => {
    expect(problems([...half, end], finishing)).toEqual(['invalid_json', 'invalid_json'])
  })

  it('is no excuse for a text that could never be JSON', () => {
    expect(problems([start(''), ...deltas('{"a":1}</call>'), end], finishing)).toEqual([
      'invalid_json',
      'invalid_json',
    ])
  })
})

describe('an error inside the stream', () => {
  it('spoils every call, because the rest of the stream is unknown', () => {
    const { response } = proposedFor(
      [
        ...[start(''), ...deltas('{"a":1}'), end],
        ...[callStart({ index: 1 }), event('call_arguments', '{"command":"rm -rf build', 1)],
        ...[callStart({ index: 2 }), event('call_arguments', '{"b":1}', 2)],
        event('error', 'Overloaded'),
      ],
      { stop: 'cut' },
    )
    expect(response.calls.map(({ problem }) => problem)).toEqual([
      'stream_error',
      'stream_error',
      'stream_error',
    ])
    expect(response.calls[1]?.raw).toBe('{"command":"rm -rf build')
  })

  it('spoils also a call that is closed or begins only after the error', () => {
    expect(call([start(''), ...deltas('{"a":1}'), event('error', 'x'), end]).problem).toBe(
      'stream_error',
    )
    expect(call([event('error', 'x'), start(''), ...deltas('{"a":1}'), end]).problem).toBe(
      'stream_error',
    )
  })
})

describe('argument bytes that belong to no call', () => {
  it('spoil each call without arguments, because they may be its own', () => {
    const { response } = proposedFor([
      ...[start(''), end],
      ...[callStart({ index: 1, id: 'id2', text: '{"a":1}' }), event('call_end', '', 1)],
      ...[
        callStart({ index: 2, id: 'id3' }),
        event('call_arguments', '{"b":1}', 2),
        event('call_end', '', 2),
      ],
      ...[
        callStart({ index: 3, id: 'id4' }),
        event('call_done', '{"c":1}', 3),
        event('call_end', '', 3),
      ],
      event('call_arguments', '{"command":"ls"}', 9),
    ])
    expect(response.calls.map(({ problem }) => problem)).toEqual([
      'lost_arguments',
      'lost_arguments',
      null,
      null,
    ])
  })

  it('are suspected if another object follows the whole object of a call', () => {
    const { response } = proposedFor([
      ...[start(''), event('call_arguments', '{"a":1}{"b":2}'), end],
      ...[callStart({ index: 1, name: 'other' }), event('call_end', '', 1)],
    ])
    expect(response.calls.map(({ problem }) => problem)).toEqual(['invalid_json', 'lost_arguments'])
  })

  it('do not count if they are empty', () => {
    expect(call([start('{"a":1}'), end, event('call_arguments', '', 9)]).problem).toBeNull()
  })
})

describe('argument texts', () => {
  it.each([
    ['{}', null],
    ['{"a":{"b":[1,2.5e-3,null,true,"x\\n"]}}', null],
    [' \n\t{"a":1}\r ', null],
    ['[1]', 'not_an_object'],
    ['"{\\"a\\":1"', 'not_an_object'],
    ['"x"', 'not_an_object'],
    ['1', 'not_an_object'],
    ['{"a":1}{"a":1}', 'invalid_json'],
    ['{a:1}', 'invalid_json'],
    ['\uFEFF{}', 'invalid_json'],
    ['{"a":NaN}', 'invalid_json'],
  ])('are judged exactly as sent: %j', (raw, problem) => {
    const asSent = { raw, source: 'deltas', repair: null, disputed: false }
    expect(call([start(''), ...deltas(raw), end])).toEqual({
      ordinal: 0,
      id: 'id1',
      name: 'read',
      ...asSent,
      problem,
    })
  })

  it('count as none if they are blank', () => {
    expect(call([start(''), ...deltas(' ', '\n'), end])).toMatchObject({
      raw: '',
      source: 'none',
      problem: 'no_arguments',
    })
    expect(call([start('{"a":1}'), ...deltas(' '), end])).toMatchObject({
      raw: '{"a":1}',
      source: 'start',
      problem: null,
    })
  })

  it('are repaired if only the spelling changes, and the sent text is kept', () => {
    const sent = "```json\n{'a':True,}\n```"
    expect(call([start(''), ...deltas(sent), end])).toMatchObject({
      raw: '\n{"a":true}\n',
      problem: null,
      repair: { sent, how: ['fence', 'single-quotes', 'python-word', 'trailing-comma'] },
    })
  })

  it('are decoded once if the object was encoded twice, and the sent text is kept', () => {
    const sent = '"{\\"a\\":1}"'
    expect(call([start(''), ...deltas(sent), end])).toMatchObject({
      raw: '{"a":1}',
      source: 'deltas',
      problem: null,
      repair: { sent, how: ['encoded-twice'] },
    })
    expect(call([start(''), ...deltas(JSON.stringify(sent)), end])).toMatchObject({
      raw: JSON.stringify(sent),
      problem: 'not_an_object',
      repair: null,
    })
  })

  it.each(['null', '""', '"null"', ' null\n'])('are none if they are %j', (sent) => {
    expect(call([start(''), ...deltas(sent), end])).toMatchObject({
      raw: '',
      source: 'deltas',
      problem: 'no_arguments',
      repair: { sent, how: ['no-arguments'] },
    })
    expect(call([start(''), ...deltas(sent), end], 'length').problem).toBe('truncated')
    expect(call([start(''), ...deltas(sent), end], 'cut').problem).toBe('truncated')
  })

  it.each(['null', '""', '"null"'])(
    'were lost if %s stands for them, and argument bytes came that belong to no call',
    (sent) => {
      const stray = event('call_arguments', '{"a":1}', 9)
      expect(call([start(''), ...deltas(sent), end, stray]).problem).toBe('lost_arguments')
    },
  )

  it('are not repaired if bytes may be missing', () => {
    const next = [callStart({ index: 1 }), event('call_arguments', '{"b', 1)]
    const { calls } = proposedFor([start(''), ...deltas('{"a":1,}'), end, ...next], {
      stop: 'length',
    }).response
    expect(calls.map(({ problem, repair }) => [problem, repair])).toEqual([
      ['invalid_json', null],
      ['truncated', null],
    ])
  })

  it('of a free-text tool never run, even if they look like an object', () => {
    expect(call([start(''), event('call_free_text'), ...deltas('{"a":1}'), end]).problem).toBe(
      'free_text',
    )
  })

  it.each([
    [
      'a member named __proto__',
      '{"__proto__":{"polluted":true},"constructor":{"prototype":{"polluted":true}}}',
    ],
    ['half a surrogate pair as an escape', '{"a":"\\ud800"}'],
    ['a member twice', '{"a":1,"a":2}'],
    ['a number that no double can hold', '{"a":12345678901234567890,"b":1e400}'],
  ])('stay as sent with %s', (_, raw) => {
    expect(call([start(''), ...deltas(raw), end])).toMatchObject({ raw, problem: null })
    expect({}).not.toHaveProperty('polluted')
  })

  it('may be nested up to the bound and no deeper', () => {
    const nested = (depth: number) => `${`{"a":`.repeat(depth - 1)}{}${'}'.repeat(depth - 1)}`
    expect(call([start(''), ...deltas(nested(limits.argumentDepthMax)), end]).problem).toBeNull()
    expect(call([start(''), ...deltas(nested(limits.argumentDepthMax + 1)), end]).problem).toBe(
      'invalid_json',
    )
    expect(call([start(''), ...deltas('['.repeat(10_000) + ']'.repeat(10_000)), end]).problem).toBe(
      'invalid_json',
    )
    expect(call([start(''), ...deltas('{"a":'.repeat(100_000)), end]).problem).toBe('invalid_json')
    expect(call([start(''), ...deltas('{"a":'.repeat(100_000))], 'cut').problem).toBe('truncated')
  })

  it('are cut at the byte bound, between characters, and then cannot run', () => {
    const bytes = (count: number) => `{"a":"${'x'.repeat(count - 8)}"}`
    expect(call([start(''), ...deltas(bytes(limits.argumentBytesMax)), end]).problem).toBeNull()
    const over = call([start(''), ...deltas(bytes(limits.argumentBytesMax + 1)), end])
    expect(over.problem).toBe('truncated')
    expect(over.raw).toHaveLength(limits.argumentBytesMax)

    const wide = call([
      start(''),
      ...deltas('{"a":"', '😀'.repeat(limits.argumentBytesMax / 4), '"}'),
      end,
    ])
    expect(wide.problem).toBe('truncated')
    expect(Buffer.byteLength(wide.raw)).toBeLessThanOrEqual(limits.argumentBytesMax)
    expect(wide.raw.isWellFormed()).toBe(true)
  })
})

function call(events: PartEvent[], stop: Stop = 'calls'): Call {
  const [first] = proposedFor(events, { stop }).response.calls
  if (first === undefined) throw new Error('the response has no call')
  return first
}
