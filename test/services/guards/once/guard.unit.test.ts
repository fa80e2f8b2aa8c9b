import { describe, expect, it } from '@jest/globals'
import { type GivenCall, type GivenRound, given } from '../../../../client/testing/given-guard.ts'
import onceGuard from '../../../../services/guards/once/guard.ts'
import type { EndedCall } from '../../../../shared/contract/guard/guard.ts'
import { limits } from '../../../../shared/contract/limits.ts'
import type { OnceRule } from '../../../../shared/contract/messages.ts'
import { noHints } from '../../../support/messages.ts'

const guard = onceGuard()
const hour = 60 * 60_000

function pay(args: GivenCall['arguments'], rule: Partial<OnceRule> = {}): GivenCall {
  const once = { by: ['invoice'], forMs: 24 * hour, within: 'conversation' as const, ...rule }
  const hints = { ...noHints, ignoreFields: ['note'], once }
  return { name: 'pay', arguments: args ?? {}, hints }
}

/** The end of the first call of the first round. */
function ended(status: EndedCall['status'], text = ''): EndedCall[] {
  return [{ conversation: 'test', turn: 0, round: 1, ordinal: 0, status, text }]
}

function answer(...rounds: GivenRound[]): string[] {
  return given(guard, ...rounds).verdicts.map((one) =>
    one.verdict === 'deny' ? one.code : 'allow',
  )
}

const first = [pay({ invoice: 17, cents: 5 })]

describe('the once guard', () => {
  it.each([
    ['ok', 'once.done'],
    ['unknown', 'once.may-have-run'],
    ['timed_out', 'once.may-have-run'],
    ['unseen', 'once.may-have-run'],
    ['error', 'allow'],
    ['denied', 'allow'],
    ['skipped', 'allow'],
  ] as const)('answers an equal call after an end with %s with %s', (status, code) => {
    expect(answer(first, { calls: first, ended: ended(status) })).toEqual([code])
  })

  it('denies an equal call while the first one has no end', () => {
    expect(answer(first, first)).toEqual(['once.open'])
    expect(answer([...first, ...first])).toEqual(['allow', 'once.open'])
  })

  it('gives the earlier result to the model, cut to its bound', () => {
    const long = `receipt 4711 ${'x'.repeat(5_000)}`
    const { verdicts } = given(guard, first, { calls: first, ended: ended('ok', long) })
    const [verdict] = verdicts
    expect(verdict).toMatchObject({ verdict: 'deny', code: 'once.done' })
    const { text } = verdict as { text: string }
    expect(text).toMatch(
      /^an equal call of pay has run already, .*do not send the call again\. Its result was:\nreceipt 4711 x+$/,
    )
    expect(text.length).toBeLessThan(1_300)
  })

  it('states that a call with an unknown end may have run', () => {
    const { verdicts } = given(guard, first, { calls: first, ended: ended('unknown') })
    expect(verdicts).toMatchObject([
      { text: expect.stringContaining('may have run, and nobody knows its end') },
    ])
  })

  it('compares only the values that `by` names', () => {
    const ends = ended('ok')
    expect(answer(first, { calls: [pay({ invoice: 17, cents: 9 })], ended: ends })).toEqual([
      'once.done',
    ])
    expect(answer(first, { calls: [pay({ invoice: 18, cents: 5 })], ended: ends })).toEqual([
      'allow',
    ])
  })

  it('compares all arguments without `by`, except the ignored ones, in any order', () => {
    const all = (args: GivenCall['arguments']) => [pay(args, { by: [] })]
    const rounds = (args: GivenCall['arguments']) =>
      answer(all({ invoice: 17, cents: 5, note: 'a' }), { calls: all(args), ended: ended('ok') })
    expect(rounds({ cents: 5, invoice: 17, note: 'b' })).toEqual(['once.done'])
    expect(rounds({ invoice: 17, cents: 6 })).toEqual(['allow'])
  })

  it('distinguishes equal values of two tools', () => {
    expect(
      answer(first, { calls: [{ ...first[0]!, name: 'refund' }], ended: ended('ok') }),
    ).toEqual(['allow'])
  })

  it('frees the values when the time of the rule is over', () => {
    const at = (ms: number) => ({ calls: first, at: Date.UTC(2026, 0, 1) + ms })
    expect(answer(at(0), { ...at(24 * hour - 1), ended: ended('ok') })).toEqual(['once.done'])
    expect(answer(at(0), { ...at(24 * hour), ended: ended('ok') })).toEqual(['allow'])
  })

  it('lets the retry after a failure hold the values again', () => {
    const retried: GivenRound[] = [first, { calls: first, ended: ended('error') }]
    const second = [{ ...ended('ok', 'paid')[0]!, round: 2 }]
    expect(answer(...retried, { calls: first, ended: second })).toEqual(['once.done'])
  })

  it('holds values together with the agents that calls ask', () => {
    const called = { conversation: 'call/test/0/1/0', turn: 9, calls: first }
    expect(answer(first, called)).toEqual(['once.open'])
    expect(answer(called, first)).toEqual(['once.open'])
  })

  it('never denies a tool without `once`, and one from a log without the field', () => {
    const { once: _, ...former } = first[0]!.hints!
    const calls = [
      { name: 'pay', arguments: { invoice: 17 } },
      { ...first[0]!, hints: former as never },
    ]
    expect(answer(calls, calls)).toEqual(['allow', 'allow'])
  })

  it('denies further values when its memory is full, and still knows the first ones', () => {
    const calls = Array.from({ length: 251 }, (_, invoice) => pay({ invoice }))
    const { verdicts, state } = given(guard, calls)
    expect(verdicts.map(({ verdict }) => verdict).indexOf('deny')).toBe(250)
    expect(verdicts.at(-1)).toMatchObject({ code: 'once.full' })
    expect(Buffer.byteLength(JSON.stringify(state))).toBeLessThan(limits.guardStateBytesMax)
    expect(answer(calls, [pay({ invoice: 0 })])).toEqual(['once.open'])
  })

  it('fits its bound with the longest results', () => {
    const calls = Array.from({ length: 250 }, (_, invoice) => pay({ invoice }))
    const ends = calls.map((_, ordinal) => ({
      ...ended('ok', '\u0001'.repeat(5_000))[0]!,
      ordinal,
    }))
    const { state } = given(guard, calls, { calls: [{ name: 'look' }], ended: ends })
    expect(Buffer.byteLength(JSON.stringify(state))).toBeLessThan(limits.guardStateBytesMax)
  })

  it('refuses an option that it does not know', () => {
    expect(() => onceGuard({ tool: [] } as never)).toThrow(
      'the once guard\'s options have "tool", which is no key here; did you mean tools?',
    )
  })
})
