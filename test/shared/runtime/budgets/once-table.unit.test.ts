// The table of values in the ledger, by its records.

import { describe, expect, it } from '@jest/globals'
import { limits } from '../../../../shared/contract/limits.ts'
import type { BudgetReserved } from '../../../../shared/contract/messages.ts'
import { noUsage } from '../../../../shared/contract/turn/no-usage.ts'
import {
  applyToLedger,
  type Decision,
  emptyLedger,
  ledgerSince,
} from '../../../../shared/runtime/budgets/ledger.ts'

const own = (attempt: string, tenant = 'acme') => ({
  tenant,
  attempt,
  conversation: `${tenant}:${attempt}`,
  turn: 1,
  round: 1,
})

function table() {
  const ledger = emptyLedger()
  const reserve = (attempt: string, time: number, more: Partial<BudgetReserved> = {}) =>
    applyToLedger(
      ledger,
      {
        type: 'budget-reserved',
        ...own(attempt, more.tenant),
        budgets: [],
        tree: '',
        children: 0,
        tokens: 0,
        usd: 0,
        once: { hash: 'h', forMs: 1_000 },
        expiresAt: time + 100,
        ...more,
      },
      time,
    )
  const settle = (attempt: string, time: number) =>
    applyToLedger(
      ledger,
      {
        type: 'budget-settled',
        ...own(attempt),
        counted: 'usage',
        usage: noUsage,
        tokens: 0,
        usd: 0,
        prices: '',
        priced: false,
      },
      time,
    )
  const release = (attempt: string, time: number) =>
    applyToLedger(ledger, { type: 'budget-released', ...own(attempt) }, time)
  return { ledger, reserve, settle, release }
}

const granted: Decision = { kind: 'granted', soft: [] }
const equal = (attempt: string, status: string, since = 0) => ({
  kind: 'equal',
  call: { conversation: `acme:${attempt}`, turn: 1, call: attempt, since, status },
})

describe('equal values', () => {
  it('are held by the first call of a tenant, and each tenant has its own', () => {
    const { reserve } = table()
    expect(reserve('a', 0)).toEqual(granted)
    expect(reserve('b', 1)).toEqual(equal('a', 'open'))
    expect(reserve('b', 1, { tenant: 'globex' })).toEqual(granted)
    expect(reserve('c', 1, { once: { hash: 'other', forMs: 1 } })).toEqual(granted)
  })

  it('are free after a release, and held for their time after a settle', () => {
    const { reserve, settle, release } = table()
    reserve('a', 0)
    release('a', 1)
    expect(reserve('b', 2)).toEqual(granted)
    settle('b', 3)
    expect(reserve('c', 1_001)).toEqual(equal('b', 'done', 2))
    expect(reserve('c', 1_002)).toEqual(granted)
  })

  it('are of a call that may have run once its reservation expires, and no later record changes that', () => {
    const { reserve, settle, release } = table()
    reserve('a', 0)
    expect(reserve('b', 100)).toEqual(equal('a', 'unknown'))
    release('a', 101)
    settle('a', 101)
    expect(reserve('b', 999)).toEqual(equal('a', 'unknown'))
    expect(reserve('b', 1_000)).toEqual(granted)
  })

  it('stay held by an open call that runs longer than its time', () => {
    const { reserve } = table()
    reserve('a', 0, { expiresAt: 5_000 })
    expect(reserve('b', 4_999)).toEqual(equal('a', 'open'))
  })

  it('are held by a further try, and the release of one try leaves the other', () => {
    const { reserve, release } = table()
    reserve('a', 0)
    expect(reserve('a', 50)).toEqual(granted)
    release('a', 60)
    expect(reserve('b', 70)).toEqual(equal('a', 'open', 50))
    release('a', 80)
    expect(reserve('b', 90)).toEqual(granted)
  })

  it('stay held after the release of a try if an earlier one has expired', () => {
    const { reserve, release } = table()
    reserve('a', 0)
    expect(reserve('a', 200)).toEqual(granted)
    release('a', 210)
    expect(reserve('b', 400)).toEqual(equal('a', 'unknown', 200))
  })

  it('of a call that has ended are not for a further try of it', () => {
    const { reserve, settle } = table()
    reserve('a', 0)
    settle('a', 1)
    expect(reserve('a', 2)).toEqual(equal('a', 'done'))
  })

  it('count for 30 days at most, and a fold that begins as long ago decides alike', () => {
    const { reserve, settle } = table()
    reserve('a', 0, { once: { hash: 'h', forMs: Number.MAX_SAFE_INTEGER } })
    settle('a', 1)
    expect(reserve('b', limits.onceMsMax - 1)).toEqual(equal('a', 'done'))
    expect(ledgerSince(limits.onceMsMax - 1)).toBeLessThan(0)
    expect(reserve('b', limits.onceMsMax)).toEqual(granted)
  })

  it('that a full table cannot remember are refused, until others are free', () => {
    const { ledger, reserve } = table()
    const hold = (n: number, time: number) =>
      reserve(`${n}`, time, { once: { hash: `${n}`, forMs: n === 0 ? 10 : 1_000 } })
    for (let n = 0; n < limits.onceTenantValuesMax; n += 1) hold(n, 0)
    expect(reserve('new', 50)).toEqual({ kind: 'full' })
    expect(reserve('new', 50, { tenant: 'globex' })).toEqual(granted)
    expect(reserve('new', 101)).toEqual(granted)
    expect(ledger.once.byTenant.get('acme')?.size).toBe(limits.onceTenantValuesMax)
    expect(ledger.once.open.size).toBe(limits.onceTenantValuesMax + 1)
  })
})
