import { describe, expect, it } from '@jest/globals'
import { accumulator, type OpenRound } from '../../../services/accumulator/reducer.ts'
import { eventWeight } from '../../../shared/contract/call/part-weight.ts'
import { limits } from '../../../shared/contract/limits.ts'
import type { Part, PartEvent, RoundProposed } from '../../../shared/contract/messages.ts'
import { at, given } from '../../support/given.ts'
import { callWith, responseWith } from '../../support/messages.ts'
import { callStart, event, finished, opened, part, proposedFor, proposedInParts } from './stream.ts'

const unit = '["c",7,2]'
const hello = [event('text', 'hel'), event('text', 'lo')]

describe('a round', () => {
  it('opens with model-opened and stays open until it expires', () => {
    const open = given(accumulator, opened({ expiresAt: 5_000 }))
    expect(open).toMatchObject({
      state: { offered: ['read', 'write'] },
      due: 5_000 + limits.turnLingerMs,
      records: [],
      wants: [],
    })
  })

  it("becomes one proposal, with the gateway's report and the offered names", () => {
    const round = given(accumulator, opened(), part(0, ...hello)).when(
      finished({ stop: 'end', finish: 'end_turn', parts: 1 }),
    )
    expect(round.state).toBeUndefined()
    expect(round.records).toEqual([{ to: 'next', message: expect.anything() }])
    expect(round.to('next')).toEqual([
      {
        type: 'round-proposed',
        conversation: 'c',
        turn: 7,
        round: 2,
        response: responseWith({
          attempt: 'a1',
          text: 'hello',
          stop: 'end',
          finish: 'end_turn',
          usage: { inputTokens: 10, outputTokens: 5, cacheReadTokens: 0, cacheWriteTokens: 0 },
        }),
        failure: null,
        offered: ['read', 'write'],
        declarations: [],
        agent: 'agent',
        policy: finished().policy,
        callsLeft: 3,
        expiresAt: 60_000,
      },
    ])
  })

  it('drops parts and an answer that come without model-opened', () => {
    expect(given(accumulator, part(0, ...hello))).toMatchObject({ state: undefined, records: [] })
    expect(given(accumulator, part(0, ...hello), finished())).toMatchObject({
      state: undefined,
      all: [],
    })
    expect(given(accumulator, part(0, ...hello), opened(), finished()).to('next')).toMatchObject([
      { failure: { class: 'transient' } },
    ])
  })

  it('writes nothing for parts', () => {
    expect(given(accumulator, opened(), part(0, ...hello), part(1, ...hello)).all).toEqual([])
  })

  it('keeps its parts if it is opened once more', () => {
    expect(text(given(accumulator, opened(), part(0, ...hello), opened(), finished()))).toBe(
      'hello',
    )
  })

  it('does not mix with another round, turn or conversation', () => {
    const others: Part[] = [
      { ...part(0, event('text', 'other round')), round: 3 },
      { ...part(0, event('text', 'other turn')), turn: 8 },
      { ...part(0, event('text', 'other conversation')), conversation: 'c"' },
    ]
    expect(text(given(accumulator, opened(), ...others, part(0, ...hello), finished()))).toBe(
      'hello',
    )
  })

  it('closes silently some time after it expired, and drops later records', () => {
    const tick = { type: 'tick', conversation: 'c', unit } as const
    const expired = given(accumulator, opened({ expiresAt: 5_000 }), part(0, ...hello)).when(
      at(5_000 + limits.turnLingerMs, tick),
    )
    expect(expired).toMatchObject({ state: undefined, all: [] })
    expect(expired.when(finished())).toMatchObject({ state: undefined, records: [] })
    expect(
      given(accumulator, opened({ expiresAt: 5_000 })).when(at(4_999 + limits.turnLingerMs, tick))
        .state,
    ).toBeDefined()
  })

  it('closes if a record made the reducer throw, because the runtime reports that', () => {
    expect(given(accumulator, opened()).whenFails(part(0))).toMatchObject({
      state: undefined,
      records: [],
    })
  })
})

describe('attempts', () => {
  const b1 = (i: number, ...events: Part['events']): Part => ({
    ...part(i, ...events),
    attempt: 'b1',
  })

  it('never mix: only the one that model-finished names is folded', () => {
    const both = given(
      accumulator,
      opened(),
      part(0, event('text', 'a0 ')),
      b1(0, event('text', 'b0 ')),
      b1(1, event('text', 'b1')),
      part(1, event('text', 'a1')),
    )
    expect(text(both.when(finished({ parts: 2 })))).toBe('a0 a1')
    expect(text(both.when(finished({ parts: 2, attempt: 'b1' })))).toBe('b0 b1')
  })

  it('are folded in the order of their parts, in any order of the log', () => {
    expect(
      text(
        given(
          accumulator,
          opened(),
          part(1, event('text', 'lo')),
          part(0, event('text', 'hel')),
          finished({ parts: 2 }),
        ),
      ),
    ).toBe('hello')
  })

  it('use the first copy of each part', () => {
    const twice = given(
      accumulator,
      opened(),
      part(0, ...hello),
      part(0, ...hello),
      part(0, event('text', 'else')),
    )
    expect(text(twice.when(finished()))).toBe('hello')
  })

  it('end where model-finished says, without the parts after that', () => {
    expect(
      text(
        given(
          accumulator,
          opened(),
          part(0, ...hello),
          part(1, event('text', ' and more')),
          finished(),
        ),
      ),
    ).toBe('hello')
  })

  it('may be empty', () => {
    expect(
      given(accumulator, opened(), finished({ parts: 0, stop: 'end' })).to('next'),
    ).toMatchObject([
      { failure: null, response: { text: '', reasoning: '', calls: [], stop: 'end' } },
    ])
  })

  it.each([
    ['the first', [1, 2], 1],
    ['one in the middle', [0, 2], 2],
    ['the last', [0, 1], 3],
  ])('with a missing part are a failure, not a shorter answer: %s', (_, sent, missing) => {
    const parts = sent.map((i) =>
      part(i, callStart({ index: i }), event('call_arguments', '{}', i), event('call_end', '', i)),
    )
    expect(given(accumulator, opened(), ...parts, finished({ parts: 3 })).to('next')).toMatchObject(
      [
        {
          response: { attempt: 'a1', text: '', calls: [], stop: 'cut', usage: { outputTokens: 5 } },
          failure: {
            class: 'transient',
            reason: `the response was cut: part ${missing} of 3 is missing`,
          },
        },
      ],
    )
  })

  it.each([
    ['before their own records', []],
    ['and their own records', [part(1, event('text', 'b')), part(2, event('text', 'c'))]],
  ])('that model-finished carries complete the answer: %s', (_, also) => {
    const rest = [[event('text', 'b')], [event('text', 'c')]]
    const end = finished({ parts: 3, rest, stop: 'end' })
    const first = part(0, event('text', 'a'))
    expect(given(accumulator, opened(), first, ...also, end).to('next')).toMatchObject([
      { failure: null, response: { text: 'abc' } },
    ])
    expect(given(accumulator, opened(), ...also, end).to('next')).toMatchObject([
      { failure: { reason: expect.stringContaining('part 1 of 3 is missing') } },
    ])
  })

  it('without any part in the log are a failure', () => {
    expect(
      given(accumulator, opened(), part(0, ...hello), finished({ attempt: 'unseen' })).to('next'),
    ).toMatchObject([
      {
        response: { attempt: 'unseen', calls: [] },
        failure: { reason: expect.stringContaining('cut') },
      },
    ])
  })

  it("that failed give an empty response with the gateway's reason, even if parts came", () => {
    const failure = { class: 'provider', reason: 'overloaded' } as const
    const failed = given(
      accumulator,
      opened(),
      part(0, ...hello),
      finished({ failure, stop: 'cut', finish: '' }),
    )
    expect(failed.to('next')).toMatchObject([
      { response: { text: '', calls: [], stop: 'cut' }, failure, offered: ['read', 'write'] },
    ])
  })
})

describe('the bound on the bytes of a round', () => {
  const half = event('text', 'x'.repeat(limits.roundPartsBytesMax / 2))

  it('cuts an attempt that exceeds it', () => {
    const over = given(accumulator, opened(), part(0, half), part(1, half))
    expect(over.when(finished({ parts: 2 })).to('next')).toMatchObject([
      {
        response: { text: '', stop: 'cut' },
        failure: {
          class: 'provider',
          reason: `the response was cut: the parts of its round take more than the ${limits.roundPartsBytesMax} bytes that a round may hold`,
        },
      },
    ])
    // Also if the count of parts leaves out the one that did not fit.
    expect(over.when(finished({ parts: 1 })).to('next')).toMatchObject([
      { failure: { class: 'provider' } },
    ])
  })

  it('holds over all attempts together, and a dropped attempt makes room for the next', () => {
    const again = given(
      accumulator,
      opened(),
      part(0, half),
      part(1, half),
      of('b1', part(0, half)),
    )
    expect(text(again.when(finished({ attempt: 'b1' })))).toHaveLength(
      limits.roundPartsBytesMax / 2,
    )
  })

  it('drops the attempt that is silent for longest, so an attempt that failed late costs its retry nothing', () => {
    const sixth = limits.roundPartsBytesMax / 6
    const piece = (i: number) => part(i, event('text', 'x'.repeat(sixth)))
    const first = [0, 1, 2, 3].map(piece)
    const retry = [0, 1, 2].map((i) => of('b1', piece(i)))
    const round = given(accumulator, opened(), ...first, ...retry)
    expect(text(round.when(finished({ attempt: 'b1', parts: 3 })))).toHaveLength(
      3 * Math.floor(sixth),
    )
    expect(round.when(finished({ parts: 4 })).to('next')).toMatchObject([
      { failure: { class: 'provider' } },
    ])
    expect(round.state?.bytes).toBeLessThan(4 * sixth)
  })

  it("goes by an attempt's newest part, not its first, and drops no more than necessary", () => {
    const third = event('text', 'x'.repeat(limits.roundPartsBytesMax / 3 - 16))
    const short = event('text', 'more')
    const round = given(
      accumulator,
      opened(),
      part(0, third),
      of('b1', part(0, third)),
      part(1, short),
      of('c1', part(0, third, short, third)),
    )
    expect(text(round.when(finished({ attempt: 'b1' })))).toContain('failed')
    expect(text(round.when(finished({ attempt: 'a1', parts: 2 })))).toContain('failed')
    const smaller = given(
      accumulator,
      opened(),
      part(0, third),
      of('b1', part(0, third)),
      part(1, short),
      of('c1', part(0, third)),
    )
    expect(text(smaller.when(finished({ attempt: 'b1' })))).toContain('failed')
    expect(text(smaller.when(finished({ parts: 2 })))).toContain('more')
    expect(text(smaller.when(finished({ attempt: 'c1' })))).not.toContain('failed')
  })

  it('drops only the attempt that alone exceeds it', () => {
    const round = given(
      accumulator,
      opened(),
      part(0, half),
      of('b1', part(0, event('text', 'x'.repeat(limits.roundPartsBytesMax)))),
    )
    expect(text(round.when(finished()))).toHaveLength(limits.roundPartsBytesMax / 2)
    expect(text(round.when(finished({ attempt: 'b1' })))).toContain('failed')
  })

  it('weighs like the gateway: parts that pass there are kept, in any number of records', () => {
    const open: OpenRound = { offered: [], expiresAt: 1, bytes: 0, attempts: new Map() }
    const count = limits.roundPartsBytesMax / eventWeight(event('text'))
    for (let i = 0; i < count; i += 1) react(open, part(i, event('text')))
    expect(open.attempts.get('a1')).toMatchObject({ phase: 'kept' })
    react(open, part(count, event('text')))
    expect(open.attempts.get('a1')).toEqual({ phase: 'over' })
  })

  it('counts bytes, not characters, and an empty part has a weight', () => {
    const wide = event('text', 'ä'.repeat(limits.roundPartsBytesMax / 2))
    expect(given(accumulator, opened(), part(0, wide), finished()).to('next')).toMatchObject([
      { failure: { class: 'provider' } },
    ])

    const open: OpenRound = { offered: [], expiresAt: 1, bytes: 0, attempts: new Map() }
    react(open, part(0))
    expect(open.bytes).toBeGreaterThan(0)
  })

  it('counts a repeated part once', () => {
    const repeated = given(accumulator, opened(), part(0, half), part(0, half), part(0, half))
    expect(text(repeated.when(finished()))).toHaveLength(limits.roundPartsBytesMax / 2)
  })
})

describe('a long response', () => {
  it('is kept in place, with any number of deltas', () => {
    const count = 100_000
    const open: OpenRound = { offered: [], expiresAt: 1, bytes: 0, attempts: new Map() }
    expect(react(open, part(0, callStart(), event('call_arguments', '{"text":"'))).state).toBe(open)
    for (let i = 1; i <= count; i += 1) react(open, part(i, event('call_arguments', 'word ')))
    react(open, part(count + 1, event('call_arguments', '"}'), event('call_end')))

    const message = react(open, finished({ parts: count + 2 })).records?.[0]
      ?.message as RoundProposed
    expect(message.response.calls[0]).toMatchObject({ source: 'deltas', problem: null })
    expect(message.response.calls[0]?.raw).toBe(`{"text":"${'word '.repeat(count)}"}`)
  })

  it('that repeats one object and ends with megabytes of blanks is read in one pass', () => {
    const again = Array.from({ length: 1_000 }, () => event('call_arguments', '{"a":1}'))
    const blanks = event('call_arguments', ' '.repeat(limits.roundPartsBytesMax / 2))
    const parts = [
      [callStart()],
      ...Array.from({ length: 40 }, () => again),
      [blanks, event('call_end')],
    ]
    const [call] = proposedInParts(parts, { twice: false }).response.calls
    expect(call).toMatchObject({ raw: '{"a":1}', problem: null })
  })
})

describe('a response', () => {
  it('joins its visible text and keeps thinking blocks exactly as sent', () => {
    const block = '{"type":"thinking","thinking":"so \\u00e4","signature":"s=="}'
    const { response } = proposedFor(
      [
        event('reasoning', 'so ', 0),
        event('reasoning', 'ä', 0),
        event('reasoning_block', block, 0),
        event('text', 'one ', 1),
        event('text', '', 1),
        event('reasoning_block', '{"type":"redacted_thinking","data":"d"}', 2),
        event('text', 'two', 3),
      ],
      { stop: 'end' },
    )
    expect(response.text).toBe('one two')
    expect(response.reasoning).toBe(`[${block},{"type":"redacted_thinking","data":"d"}]`)
  })

  it('has no reasoning if no thinking block was finished', () => {
    expect(proposedFor([event('reasoning', 'hm')], { stop: 'length' }).response.reasoning).toBe('')
  })

  it('numbers its calls in the order in which they began, and gives each delta to its call', () => {
    const { response } = proposedFor([
      callStart({ index: 4, id: 'x', name: 'write' }),
      callStart({ index: 2, id: 'y' }),
      event('call_arguments', '{"a":', 4),
      event('call_arguments', '{"b":', 2),
      event('call_arguments', '1}', 4),
      event('call_arguments', '2}', 2),
      event('call_end', '', 2),
      event('call_end', '', 4),
    ])
    expect(response.calls).toEqual([
      callWith({ id: 'x', name: 'write', raw: '{"a":1}' }),
      callWith({ ordinal: 1, id: 'y', name: 'read', raw: '{"b":2}' }),
    ])
  })

  it('keeps ids as data: one may be missing, two may be equal', () => {
    const { response } = proposedFor([
      callStart({ id: null }),
      callStart({ index: 1, id: 'same' }),
      callStart({ index: 2, id: 'same', name: 'write' }),
    ])
    expect(response.calls.map(({ ordinal, id }) => ({ ordinal, id }))).toEqual([
      { ordinal: 0, id: '' },
      { ordinal: 1, id: 'same' },
      { ordinal: 2, id: 'same' },
    ])
  })

  it.each(['', '   ', 'a\u0000b', '__proto__', "'; drop"])(
    'keeps the tool name as sent: %j',
    (name) => {
      expect(proposedFor([callStart({ name })]).response.calls).toMatchObject([{ name }])
    },
  )

  it('has a call once that came twice with the same id, name and arguments', () => {
    const come = (...calls: Partial<PartEvent>[]) => {
      const events = calls.flatMap((fields, index) => [
        callStart({ index, ...fields }),
        event('call_end', '', index),
      ])
      return proposedFor(events).response.calls.map(({ ordinal, id, raw }) => [ordinal, id, raw])
    }
    const [one, other] = ['{"a":1}', '{"a":2}']
    expect(
      come({ id: 'x', text: one }, { id: 'x', text: '{ "a": 1 }' }, { id: 'y', text: one }),
    ).toEqual([
      [0, 'x', one],
      [1, 'y', one],
    ])
    expect(come({ id: 'x', text: one }, { id: 'x', text: other })).toHaveLength(2)
    expect(come({ id: 'x', text: one }, { id: 'x', text: one, name: 'write' })).toHaveLength(2)
    expect(come({ id: null, text: one }, { id: null, text: one })).toHaveLength(2)
  })

  it('is a failure if it has more calls than a response may have', () => {
    const calls = (count: number) =>
      Array.from({ length: count }, (_, index) =>
        callStart({ index, id: `id${index}`, text: '{}' }),
      )
    expect(proposedFor(calls(limits.responseCallsMax)).response.calls).toHaveLength(
      limits.responseCallsMax,
    )
    expect(proposedFor(calls(limits.responseCallsMax + 1))).toMatchObject({
      response: { calls: [] },
      failure: {
        class: 'provider',
        reason: 'the response has 257 calls, and at most 256 are taken',
      },
    })
  })

  it('is a failure if the provider reported an error and no call can carry it', () => {
    expect(
      proposedFor([event('text', 'The answer is'), event('error', 'Overloaded')], { stop: 'cut' }),
    ).toMatchObject({
      response: { text: '' },
      failure: {
        class: 'provider',
        reason: 'the provider reported an error inside its stream: Overloaded',
      },
    })
    const long = proposedFor([event('error', 'ä'.repeat(10_000))]).failure?.reason ?? ''
    expect(Buffer.byteLength(long)).toBeLessThanOrEqual(limits.reasonBytesMax)
    expect(long.isWellFormed()).toBe(true)
  })

  it('is a failure if argument bytes came and no call ever began', () => {
    expect(proposedFor([event('call_arguments', '{"a":1}')])).toMatchObject({
      failure: {
        class: 'provider',
        reason: 'the response has arguments of a call that never began',
      },
    })
    expect(proposedFor([event('call_arguments', '')]).failure).toBeNull()
  })

  it('throws on events that only a broken gateway can write', () => {
    expect(() => proposedFor([callStart(), callStart()])).toThrow(
      'began two calls with the index 0',
    )
    expect(() => proposedFor([event('reasoning_block', '{"type":')])).toThrow('is not JSON')
  })
})

function of(attempt: string, whole: Part): Part {
  return { ...whole, attempt }
}

function react(state: OpenRound, message: Parameters<typeof accumulator.react>[1]['message']) {
  return accumulator.react(state, { message, offset: 0, previous: undefined, time: 0 })
}

function text(folded: { to(port: 'next'): unknown[] }): string {
  const [record] = folded.to('next') as RoundProposed[]
  return record?.failure === null ? record.response.text : `failed: ${record?.failure?.reason}`
}
