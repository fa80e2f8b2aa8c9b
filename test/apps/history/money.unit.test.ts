import { describe, expect, it } from '@jest/globals'
import { type MoneyLog, moneyReader } from '../../../apps/history/money.ts'
import { moneyText } from '../../../apps/terminal/text/money-text.ts'
import { encode } from '../../../shared/codec/codec.ts'
import type { StoredRecord } from '../../../shared/contract/bus.ts'
import type { BudgetSettled } from '../../../shared/contract/messages.ts'
import { tenantOf } from '../../../shared/contract/tenant.ts'

function settled(conversation: string, attempt: string, usd: number | null): BudgetSettled {
  const usage = { inputTokens: 1, outputTokens: 1, cacheReadTokens: 0, cacheWriteTokens: 0 }
  return {
    type: 'budget-settled',
    tenant: tenantOf(conversation),
    conversation,
    turn: 1,
    round: 1,
    attempt,
    counted: 'usage',
    usage,
    tokens: 2,
    usd,
    prices: usd === null ? '' : 'v1',
    priced: true,
  }
}

/** A topic with one partition, and the offsets that were read. */
function logOf(records: StoredRecord[]) {
  const read: number[] = []
  const log: MoneyLog = {
    topicPrefix: 'weir.',
    bus: {
      ends: async () => [{ partition: 0, begin: 0, end: records.length }],
      async read({ from, to = records.length }) {
        const found = records.slice(from, to)
        read.push(...found.map(({ offset }) => offset))
        return found
      },
    },
  }
  const add = (key: string, value: Uint8Array | null) => {
    const offset = records.length
    records.push({ topic: 'weir.budgets', partition: 0, offset, key, value, time: offset })
  }
  return { log, read, add: (one: BudgetSettled, key = one.tenant) => add(key, encode(one)) }
}

describe('the money of conversations', () => {
  it('counts each attempt once, and no record under the key of another tenant', async () => {
    const { log, add } = logOf([])
    add(settled('acme:c', 'a1', 5_000_000))
    add(settled('acme:c', 'a1', 5_000_000))
    add(settled('acme:c', 'a2', null))
    add(settled('acme:c', 'a3', 9_000_000_000), 'other')
    const money = await moneyReader(log).of(['acme:c', 'acme:d'])
    expect([...money]).toEqual([
      ['acme:c', { usd: 5_000_000, requests: 2, unpriced: 1, prices: ['v1'] }],
    ])
  })

  it('leaves out requests that only budgets in tokens count', async () => {
    const { log, add } = logOf([])
    add({ ...settled('acme:c', 'a1', null), priced: false })
    expect([...(await moneyReader(log).of(['acme:c']))]).toEqual([])
    add(settled('acme:c', 'a2', 5_000_000))
    expect((await moneyReader(log).of(['acme:c'])).get('acme:c')).toMatchObject({ unpriced: 0 })
  })

  it('reads only new records at a further call', async () => {
    const { log, read, add } = logOf([])
    const reader = moneyReader(log)
    add(settled('c', 'a1', 1_000_000))
    await reader.of(['c'])
    add(settled('c', 'a2', 2_000_000))
    expect((await reader.of(['c'])).get('c')).toMatchObject({ usd: 3_000_000, requests: 2 })
    expect(read).toEqual([0, 1])
  })

  it('is shown as unknown if no price is known, and as a part if some are not', () => {
    const money = { usd: 12_300_000, requests: 3, unpriced: 0, prices: ['v1'] }
    expect(moneyText(money)).toBe('0.0123 USD')
    expect(moneyText({ ...money, unpriced: 1 })).toBe(
      '0.0123 USD, without 1 request of unknown price',
    )
    expect(moneyText({ ...money, usd: 0, unpriced: 3 })).toBe('price unknown')
  })
})
