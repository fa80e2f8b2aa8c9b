// The accounts of budgets, read again and again.

import { expect, it } from '@jest/globals'
import { accountsReader } from '../../../../apps/service/budgets/accounts.ts'
import { encode } from '../../../../shared/codec/codec.ts'
import type { BudgetReserved, BudgetSettled } from '../../../../shared/contract/messages.ts'
import { systemClock } from '../../../../shared/lib/clock.ts'

const now = systemClock.now()
const place = { tenant: 'acme', conversation: 'acme:c', turn: 1, round: 1 }

function requestOf(attempt: string): [BudgetReserved, BudgetSettled] {
  const budget = { id: 'b', subject: 'acme', window: 'day', unit: 'tokens' } as const
  const usage = { inputTokens: 3, outputTokens: 2, cacheReadTokens: 0, cacheWriteTokens: 0 }
  return [
    {
      type: 'budget-reserved',
      ...place,
      attempt,
      tokens: 9,
      usd: null,
      budgets: [{ ...budget, soft: null, hard: 100 }],
      expiresAt: now + 600_000,
    } as BudgetReserved,
    {
      type: 'budget-settled',
      priced: true,
      ...place,
      attempt,
      counted: 'usage',
      usage,
      tokens: 5,
      usd: null,
      prices: '',
    },
  ]
}

it('a reservation without a settle counts as used from its deadline on', async () => {
  let time = now
  const [reserved] = requestOf('killed')
  const record = { topic: 'weir.budgets', partition: 0, offset: 0, key: 'acme', time: now }
  const read = accountsReader({
    topicPrefix: 'weir.',
    bus: {
      clock: { ...systemClock, now: () => time },
      ends: async () => [{ partition: 0, begin: 0, end: 1 }],
      offsetSince: async () => 0,
      read: async () => [{ ...record, value: encode(reserved) }],
    },
  })
  expect(await read()).toMatchObject([{ used: 0, held: 9 }])
  time = reserved.expiresAt - 1
  expect(await read()).toMatchObject([{ used: 0, held: 9 }])
  time = reserved.expiresAt
  expect(await read()).toMatchObject([{ used: 9, held: 0 }])
})

it('a request counts once, also if a read fails after it', async () => {
  const records = ['a1', 'a2', 'a3'].flatMap(requestOf).map((message, offset) => ({
    topic: 'weir.budgets',
    partition: 0,
    offset,
    key: 'acme',
    time: now,
    value: encode(message),
  }))
  let end = 2
  let failsAt = Number.POSITIVE_INFINITY
  const read = accountsReader({
    topicPrefix: 'weir.',
    bus: {
      clock: systemClock,
      ends: async () => [{ partition: 0, begin: 0, end }],
      offsetSince: async () => 0,
      async read({ from }) {
        if (from >= failsAt) throw new Error('the broker is away')
        return records.slice(from, from + 2)
      },
    },
  })
  expect(await read()).toMatchObject([{ used: 5, held: 0 }])
  end = 6
  failsAt = 4
  await expect(read()).rejects.toThrow('the broker is away')
  failsAt = Number.POSITIVE_INFINITY
  expect(await read()).toMatchObject([{ used: 15, held: 0 }])
})
