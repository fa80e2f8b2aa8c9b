import { describe, expect, it, test } from '@jest/globals'
import fc from 'fast-check'
import { amountOf, textOfUnits, unitsOf } from '../../../../services/guards/spend/amount.ts'
import spendGuard, {
  type SpendGuardOptions,
  type SpendState,
} from '../../../../services/guards/spend/guard.ts'
import type {
  GuardedRound,
  JsonObject,
  JsonValue,
} from '../../../../shared/contract/guard/guard.ts'
import { callConversationIdBytesMax } from '../../../../shared/contract/ids.ts'
import { limits } from '../../../../shared/contract/limits.ts'
import { declarationWith } from '../../../support/messages.ts'

const usual: SpendGuardOptions = {
  tools: ['pay'],
  argument: 'cents',
  limits: { call: '50.00', conversation: '100.00' },
}
const noon = Date.UTC(2026, 4, 1, 12)

function roundOf(
  round: number,
  amounts: JsonValue[],
  { time = noon, turn = 1 } = {},
): GuardedRound {
  return roundWith(
    round,
    amounts.map((cents) => ({ cents })),
    { time, turn },
  )
}

function roundWith(round: number, all: JsonObject[], { time = noon, turn = 1 } = {}): GuardedRound {
  const declaration = declarationWith({ name: 'pay', timeoutMs: 1 })
  const calls = all.map((args, ordinal) => ({
    ordinal,
    name: 'pay',
    arguments: args,
    rawArguments: JSON.stringify(args),
    declaration,
    source: 'deltas' as const,
    enforced: true,
  }))
  return { conversation: 'c', turn, round, agent: 'a', time, calls, ended: [] }
}

/**
 * Judges rounds one after the other. Returns the codes of all verdicts, one list for each round.
 */
function codes(options: SpendGuardOptions, ...rounds: GuardedRound[]): string[][] {
  const guard = spendGuard(options)
  let state: SpendState | undefined
  return rounds.map((round) => {
    const judgement = guard.judge(state, round)
    state = judgement.state
    return judgement.verdicts.map((verdict) =>
      verdict.verdict === 'allow' ? 'allow' : verdict.code.replace('spend.', ''),
    )
  })
}

describe('the limits', () => {
  it('pass an amount exactly at a limit, and refuse one unit more', () => {
    expect(codes(usual, roundOf(1, [5000, 5001, 5000, 1]))).toEqual([
      ['allow', 'over-call', 'allow', 'over-conversation'],
    ])
  })

  it('count over rounds and turns of a conversation', () => {
    expect(
      codes(usual, roundOf(1, [4000]), roundOf(2, [4000]), roundOf(1, [2001, 2000], { turn: 7 })),
    ).toEqual([['allow'], ['allow'], ['over-conversation', 'allow']])
  })

  it('leave room for a smaller call after a refused one', () => {
    expect(
      codes({ ...usual, limits: { conversation: '10.00' } }, roundOf(1, [900, 200, 100])),
    ).toEqual([['allow', 'over-conversation', 'allow']])
  })

  it('begin a new day at midnight in UTC, and never go back to an older one', () => {
    const limits = { day: '10.00' }
    const before = Date.UTC(2026, 4, 1, 23, 59, 59, 999)
    expect(
      codes(
        { ...usual, limits },
        roundOf(1, [1000], { time: before }),
        roundOf(2, [1], { time: before }),
        roundOf(3, [1000], { time: before + 1 }),
        roundOf(4, [1], { time: before }),
      ),
    ).toEqual([['allow'], ['over-day'], ['allow'], ['over-day']])
  })

  it('refuse another currency', () => {
    const options: SpendGuardOptions = { ...usual, currency: { argument: 'currency', is: 'EUR' } }
    const round = roundWith(1, [
      { cents: 1, currency: 'EUR' },
      { cents: 1, currency: 'eur' },
      { cents: 1 },
    ])
    expect(codes(options, round)).toEqual([['allow', 'currency', 'currency']])
  })

  it('find an amount by a JSON Pointer', () => {
    const options = { ...usual, argument: '/order/lines/0/price' }
    expect(
      codes(
        options,
        roundWith(1, [{ order: { lines: [{ price: 5001 }] } }, { order: { lines: [] } }]),
      ),
    ).toEqual([['over-call', 'no-amount']])
  })

  it('report the remaining amount', () => {
    const verdict = spendGuard(usual).judge(undefined, roundOf(1, [4000, 3000, 4000])).verdicts[2]
    expect(verdict).toEqual({
      ordinal: 2,
      verdict: 'deny',
      code: 'spend.over-conversation',
      text: '40.00 after 70.00 is over 100.00 for this conversation. At most 30.00 can still be spent; more needs a person.',
      evidence: '40.00 after 70.00 is over 100.00 for this conversation',
    })
  })
})

describe('the remaining amount under several limits', () => {
  const options = { ...usual, limits: { call: '5.00', conversation: '8.00', day: '7.00' } }
  const textAfter = (spent: number[], cents: number) => {
    const verdict = spendGuard(options)
      .judge(undefined, roundOf(1, [...spent, cents]))
      .verdicts.at(-1)
    return verdict?.verdict === 'deny' ? verdict.text : 'allow'
  }

  it('satisfies all of them, whichever the call exceeded', () => {
    expect(textAfter([300], 501)).toBe(
      '5.01 after 0.00 is over 5.00 for one call. At most 4.00 can still be spent; more needs a person.',
    )
    expect(textAfter([400, 300], 150)).toBe(
      '1.50 after 7.00 is over 8.00 for this conversation. At most 0.00 can still be spent; more needs a person.',
    )
    expect(textAfter([100], 501)).toContain('At most 5.00 can still be spent in one call;')
  })
})

describe('a repeated round', () => {
  it('gets the same verdicts and is not counted twice', () => {
    const guard = spendGuard(usual)
    const round = roundOf(1, [4000, 4000, 4000])
    const first = guard.judge(undefined, round)
    expect(guard.judge(structuredClone(first.state), round)).toEqual(first)
    expect(guard.judge(first.state, { ...round, time: round.time + 86_400_000 })).toEqual(first)
  })

  it('is refused if it is older than the last', () => {
    expect(codes(usual, roundOf(2, [1]), roundOf(1, [1]), roundOf(3, [1], { turn: 0 }))).toEqual([
      ['allow'],
      ['out-of-order'],
      ['out-of-order'],
    ])
  })
})

describe('the calls of an agent that a call asks', () => {
  it('count into the sum of its caller, which goes on afterwards', () => {
    const called = { ...roundOf(1, [4000], { turn: 9 }), conversation: 'call/c/1/1/0' }
    const later = { ...roundOf(2, [3000], { turn: 9 }), conversation: 'call/c/1/1/0' }
    expect(codes(usual, roundOf(1, [4000]), called, later, roundOf(2, [2001, 2000]))).toEqual([
      ['allow'],
      ['allow'],
      ['over-conversation'],
      ['over-conversation', 'allow'],
    ])
  })
})

describe('the rounds of agents that calls of one conversation ask', () => {
  const of = (n: number, round: GuardedRound) => ({ ...round, conversation: `call/c/1/1/${n}` })
  const sumAfter = (rounds: readonly GuardedRound[]) => {
    const guard = spendGuard({ ...usual, limits: { conversation: '1000.00' } })
    let state: SpendState | undefined
    const verdicts = rounds.map((round) => {
      const judgement = guard.judge(state, round)
      state = judgement.state
      return judgement.verdicts.map(({ verdict }) => verdict)
    })
    return { verdicts: verdicts.flat(), total: state?.total }
  }

  it('are counted once each, also if each one is repeated after its sibling', () => {
    const rounds = [of(0, roundOf(1, [100])), of(1, roundOf(1, [10])), roundOf(1, [1])]
    expect(sumAfter([...rounds, ...rounds, ...rounds.toReversed()])).toEqual({
      verdicts: rounds.concat(rounds, rounds).map(() => 'allow'),
      total: '111',
    })
  })

  it('are not refused if a sibling has reached a later round', () => {
    const rounds = [of(0, roundOf(9, [100])), of(1, roundOf(1, [10])), of(0, roundOf(8, [100]))]
    expect(sumAfter(rounds)).toEqual({ verdicts: ['allow', 'allow', 'deny'], total: '110' })
  })

  it('get the same verdicts again after their siblings have spent', () => {
    const first = of(0, roundOf(1, [4000, 4000, 2000]))
    const sibling = of(1, roundOf(1, [1]))
    expect(codes(usual, first, sibling, first)).toEqual([
      ['allow', 'allow', 'allow'],
      ['over-conversation'],
      ['allow', 'allow', 'allow'],
    ])
  })

  it('are remembered for the 32 newest conversations, and the sum can only be too high', () => {
    const names = Array.from({ length: 34 }, (_, n) => of(n, roundOf(1, [1])))
    const [oldest] = names
    const { total } = sumAfter([...names, ...names.slice(2), ...(oldest ? [oldest] : [])])
    expect(total).toBe('35')
  })

  it('fit into the state of a guard with the longest ids', () => {
    const long = 'c'.repeat(callConversationIdBytesMax)
    const guard = spendGuard({ ...usual, limits: { conversation: '9'.repeat(15) } })
    let state: SpendState | undefined
    for (let n = 0; n < 40; n += 1)
      state = guard.judge(state, {
        ...roundOf(1, [2 ** 52], { turn: 2 ** 52 }),
        conversation: `${n}${long}`.slice(0, long.length),
      }).state
    expect(JSON.stringify(state).length).toBeLessThan(limits.guardStateBytesMax)
  })
})

describe('an invalid amount', () => {
  const bad: JsonValue[] = [
    -1,
    1.5,
    Number.NaN,
    Number.POSITIVE_INFINITY,
    2 ** 53,
    '100',
    '1e3',
    null,
    true,
    [],
    [1],
    {},
    '',
  ]
  test.each(bad.map((value) => [value]))('is an integer of %p', (value) =>
    expect(codes(usual, roundOf(1, [value]))).toEqual([['no-amount']]),
  )

  it('is missing, or only inherited', () => {
    expect(codes(usual, roundWith(1, [{}]))).toEqual([['no-amount']])
    expect(codes({ ...usual, argument: 'constructor' }, roundWith(1, [{}]))).toEqual([
      ['no-amount'],
    ])
  })

  test.each<[JsonValue, string]>([
    [12.5, '12.50'],
    [0.1, '0.10'],
    [0, '0.00'],
    [-0, '0.00'],
    [1234567890123.45, '1234567890123.45'],
    [12.345, 'it has more than 2 decimals'],
    [-12.5, 'it is negative'],
    [1e21, 'it has more digits than a JSON number holds exactly'],
    [1e-7, 'it has more digits than a JSON number holds exactly'],
    [0.1 + 0.2, 'it has more digits than a JSON number holds exactly'],
    ['12.5', 'it is a text, not a JSON number'],
  ])('is a number of %p', (value, expected) =>
    expect(unitsOrFault(amountOf(value, 'number', 2))).toBe(expected),
  )

  test.each<[JsonValue, string]>([
    ['12.5', '12.50'],
    ['012.500', '12.50'],
    ['12', '12.00'],
    ['12.505', 'it has more than 2 decimals'],
    ['-1', 'it is negative'],
    ['+1', 'it is not a decimal number without sign, blanks and exponent'],
    [' 1', 'it is not a decimal number without sign, blanks and exponent'],
    ['1,5', 'it is not a decimal number without sign, blanks and exponent'],
    ['1e3', 'it is not a decimal number without sign, blanks and exponent'],
    ['NaN', 'it is not a decimal number without sign, blanks and exponent'],
    ['0x10', 'it is not a decimal number without sign, blanks and exponent'],
    ['.5', 'it is not a decimal number without sign, blanks and exponent'],
    ['9'.repeat(40), 'it has more than 18 digits'],
    [12.5, 'it is a number, not a text such as "12.50"'],
  ])('is a decimal text of %p', (value, expected) =>
    expect(unitsOrFault(amountOf(value, 'decimal-text', 2))).toBe(expected),
  )

  function unitsOrFault(amount: ReturnType<typeof amountOf>): string {
    return 'fault' in amount ? amount.fault : textOfUnits(amount.units, 2)
  }
})

describe('the arithmetic', () => {
  it('never passes more than a limit, and never refuses a fitting amount', () => {
    const rounds = fc.array(
      fc.array(fc.integer({ min: 0, max: 6_000 }), { minLength: 1, maxLength: 5 }),
      { maxLength: 20 },
    )
    fc.assert(
      fc.property(rounds, (all) => {
        const judged = codes(
          { ...usual, limits: { conversation: '100.00' } },
          ...all.map((amounts, i) => roundOf(i + 1, amounts)),
        )
        let spent = 0
        for (const [i, amounts] of all.entries())
          for (const [j, cents] of amounts.entries()) {
            const fits = spent + cents <= 10_000
            expect(judged[i]?.[j]).toBe(fits ? 'allow' : 'over-conversation')
            if (fits) spent += cents
          }
      }),
    )
  })

  it('sums tenths exactly, unlike floating point', () => {
    const options: SpendGuardOptions = {
      tools: ['pay'],
      argument: 'cents',
      form: 'number',
      decimals: 1,
      limits: { conversation: '1.0' },
    }
    const rounds = Array.from({ length: 11 }, (_, i) => roundOf(i + 1, [0.1]))
    expect(codes(options, ...rounds).flat()).toEqual([
      ...Array.from({ length: 10 }, () => 'allow'),
      'over-conversation',
    ])
  })

  it('reads and writes every amount alike', () => {
    const units = fc.bigInt({ min: 0n, max: 10n ** 18n - 1n })
    fc.assert(
      fc.property(units, fc.integer({ min: 0, max: 9 }), (value, decimals) =>
        expect(unitsOf(textOfUnits(value, decimals), decimals)).toEqual({ units: value }),
      ),
    )
  })

  it('handles any JSON as an amount without throwing', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) =>
        expect(codes(usual, roundOf(1, [value as JsonValue]))[0]).toHaveLength(1),
      ),
    )
  })

  it('keeps a state that is small and survives JSON', () => {
    const guard = spendGuard({ ...usual, limits: { day: '1.00' } })
    const { state } = guard.judge(
      undefined,
      roundOf(
        1,
        Array.from({ length: 256 }, () => 5_000),
      ),
    )
    expect(JSON.parse(JSON.stringify(state))).toEqual(state)
    expect(JSON.stringify(state).length).toBeLessThan(300)
  })
})

describe('its options', () => {
  test.each<[string, object]>([
    ['tools', { tools: [] }],
    ['argument', { argument: '' }],
    ['form', { form: 'float' }],
    ['decimals', { decimals: 1.5 }],
    ['limits', { limits: {} }],
    ['limits.day', { limits: { day: 10 } }],
    ['limits.day', { limits: { day: '-1' } }],
    ['limits.day', { limits: { day: '1.005' } }],
    ['currency', { currency: { argument: 'currency', is: '' } }],
    ['rememberedHours', { rememberedHours: 24 }],
  ])('refuse a wrong %s: %j', (option, wrong) => {
    expect(() => spendGuard({ ...usual, ...wrong } as SpendGuardOptions)).toThrow(
      `the spend guard's ${option} is`,
    )
  })
})
