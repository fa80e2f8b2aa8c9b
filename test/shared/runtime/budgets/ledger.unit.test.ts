// The ledger of budgets: given records of a tenant, when a reservation follows, then it is decided.

import { describe, expect, it } from '@jest/globals'
import fc from 'fast-check'
import type { BudgetInForce, BudgetReserved } from '../../../../shared/contract/messages.ts'
import {
  applyToLedger,
  type Decision,
  emptyLedger,
  type Ledger,
  type LedgerRecord,
} from '../../../../shared/runtime/budgets/ledger.ts'

const noon = Date.UTC(2026, 10, 23, 12)
const hourMs = 3_600_000

const perDay: BudgetInForce = {
  id: 'acme/tenant/day/tokens',
  subject: '',
  window: 'day',
  unit: 'tokens',
  soft: null,
  hard: 100,
}

const place = { tenant: 'acme', conversation: 'acme:c', turn: 3, round: 1 }

function reserve(attempt: string, fields: Partial<BudgetReserved> = {}): BudgetReserved {
  return {
    type: 'budget-reserved',
    ...place,
    attempt,
    budgets: [perDay],
    tokens: 60,
    usd: null,
    expiresAt: noon + 10 * hourMs,
    tree: '',
    children: 0,
    once: null,
    ...fields,
  }
}

function settle(attempt: string, tokens: number, usd: number | null = null): LedgerRecord {
  const usage = { inputTokens: tokens, outputTokens: 0, cacheReadTokens: 0, cacheWriteTokens: 0 }
  return {
    type: 'budget-settled',
    priced: true,
    ...place,
    attempt,
    counted: 'usage',
    usage,
    tokens,
    usd,
    prices: '',
  }
}

const release = (attempt: string): LedgerRecord => ({
  type: 'budget-released',
  ...place,
  attempt,
})

/** The decision on the last record. */
function decisionAfter(
  ...records: (LedgerRecord | [LedgerRecord, number])[]
): Decision | undefined {
  const ledger = emptyLedger()
  let decision: Decision | undefined
  for (const one of records) {
    const [record, time] = Array.isArray(one) ? one : [one, noon]
    decision = applyToLedger(ledger, record, time)
  }
  return decision
}

describe('a reservation', () => {
  it.each<[string, (LedgerRecord | [LedgerRecord, number])[], 'granted' | 'refused']>([
    ['nothing was used', [reserve('a')], 'granted'],
    ['something is left', [reserve('a'), reserve('b')], 'granted'],
    ['open reservations reach the budget', [reserve('a'), reserve('b'), reserve('c')], 'refused'],
    [
      'the settled use is lower than the reserved one',
      [reserve('a'), settle('a', 1), reserve('b'), reserve('c')],
      'granted',
    ],
    ['a settled use reaches it', [reserve('a'), settle('a', 100), reserve('b')], 'refused'],
    [
      'a reservation was released',
      [reserve('a'), reserve('b'), release('b'), reserve('c')],
      'granted',
    ],
    [
      'a lost settle counts in full at its expiry',
      [
        reserve('a', { tokens: 100, expiresAt: noon + 1 }),
        [settle('a', 1), noon + 1],
        [reserve('b'), noon + 2],
      ],
      'refused',
    ],
    [
      'the next day begins in UTC',
      [reserve('a', { tokens: 100 }), [reserve('b'), noon + 12 * hourMs]],
      'granted',
    ],
    [
      'the day is not over',
      [reserve('a', { tokens: 100 }), [reserve('b'), noon + 12 * hourMs - 1]],
      'refused',
    ],
    [
      'another tenant used its budget',
      [reserve('a', { tokens: 100, tenant: 'other' }), reserve('b')],
      'granted',
    ],
    [
      'another turn used a budget of each turn',
      [
        reserve('a', { tokens: 100, turn: 1, budgets: [{ ...perDay, window: 'turn' }] }),
        reserve('b', { budgets: [{ ...perDay, window: 'turn' }] }),
      ],
      'granted',
    ],
    [
      'the same turn used it',
      [
        reserve('a', { tokens: 100, budgets: [{ ...perDay, window: 'turn' }] }),
        reserve('b', { budgets: [{ ...perDay, window: 'turn' }] }),
      ],
      'refused',
    ],
    ['the budget is zero', [reserve('a', { budgets: [{ ...perDay, hard: 0 }] })], 'refused'],
  ])('is decided if %s', (_, records, kind) => {
    expect(decisionAfter(...records)).toMatchObject({ kind })
  })

  it('that is refused counts for nothing', () => {
    const full = reserve('a', { tokens: 100 })
    const decision = decisionAfter(full, reserve('b', { tokens: 500 }), release('a'), reserve('c'))
    expect(decision).toMatchObject({ kind: 'granted' })
  })

  it('under money counts the price, and an unknown price counts as nothing', () => {
    const usd = { ...perDay, unit: 'usd' as const, id: 'acme/tenant/day/usd' }
    const of = (attempt: string, money: number | null) =>
      reserve(attempt, { usd: money, budgets: [usd] })
    expect(decisionAfter(of('a', null), of('b', 5))).toMatchObject({ kind: 'granted' })
    expect(decisionAfter(of('a', 500), settle('a', 1, 40), of('b', 5))).toMatchObject({
      kind: 'granted',
    })
    expect(decisionAfter(of('a', 5), settle('a', 1, 400), of('b', 5))).toMatchObject({
      kind: 'refused',
    })
  })

  it('keeps its use of the window while it is removed, and with another amount', () => {
    const without = reserve('without', { budgets: [] })
    const again = reserve('again', { budgets: [{ ...perDay, hard: 80 }] })
    expect(
      decisionAfter(reserve('a'), settle('a', 90), without, settle('without', 5), again),
    ).toMatchObject({ kind: 'refused', hard: { used: 90 } })
  })

  it('reports a soft budget once in its window', () => {
    const budgets = [{ ...perDay, soft: 50, hard: null }]
    const of = (attempt: string) => reserve(attempt, { budgets })
    const used = [of('a'), settle('a', 50)]
    expect(decisionAfter(...used, of('b'))).toMatchObject({ kind: 'granted', soft: [{ used: 50 }] })
    expect(decisionAfter(...used, of('b'), of('c'))).toMatchObject({ kind: 'granted', soft: [] })
    expect(decisionAfter(of('a'), of('b'))).toMatchObject({ soft: [] })
  })
})

describe('a child of a tree', () => {
  const cap = (unit: BudgetInForce['unit'], hard: number): BudgetInForce => ({
    ...perDay,
    id: `tree.${unit}`,
    window: 'tree',
    unit,
    hard,
  })
  const child = (name: string, budgets: BudgetInForce[], fields: Partial<BudgetReserved> = {}) =>
    reserve(name, { budgets, tree: 'root', children: 1, tokens: 0, usd: 0, ...fields })
  const request = (name: string, budgets: BudgetInForce[]) =>
    reserve(name, { budgets, tree: 'root' })
  const [one, two] = [[cap('running', 1)], [cap('children', 2)]]
  const lateMs = noon + 11 * hourMs

  it.each<[string, (LedgerRecord | [LedgerRecord, number])[], 'granted' | 'refused']>([
    ['as many run', [child('a', one), child('b', one)], 'refused'],
    ['another one ended', [child('a', one), settle('a', 0), child('b', one)], 'granted'],
    ['another one lapsed', [child('a', one), [child('b', one), lateMs]], 'granted'],
    ['a further try of the same child asks', [child('a', one), child('a', one)], 'granted'],
    [
      'a further try keeps the place longer than the first one would',
      [child('a', one), child('a', one, { expiresAt: lateMs + hourMs }), [child('b', one), lateMs]],
      'refused',
    ],
    ['another tree has as many', [child('a', one), child('b', one, { tree: 'x' })], 'granted'],
    [
      'as many began, also if they ended',
      [child('a', two), settle('a', 0), child('b', two), settle('b', 0), child('c', two)],
      'refused',
    ],
    [
      'another one never began',
      [child('a', two), child('b', two), release('b'), child('c', two)],
      'granted',
    ],
    [
      'a further try of a running child gives only itself up',
      [child('a', one), child('a', one), release('a'), child('b', one)],
      'refused',
    ],
    [
      'each try of a child gave itself up',
      [child('a', one), child('a', one), release('a'), release('a'), child('b', one)],
      'granted',
    ],
    [
      'all requests of the tree are used, and children count for none',
      [
        request('a', [cap('rounds', 2)]),
        child('b', [cap('rounds', 2)]),
        request('c', [cap('rounds', 2)]),
        child('d', [cap('rounds', 2)]),
      ],
      'refused',
    ],
    [
      'a request was refused by the provider',
      [request('a', [cap('rounds', 1)]), release('a'), child('b', [cap('rounds', 1)])],
      'granted',
    ],
    [
      'the time is over',
      [request('a', [cap('ms', 5)]), [child('b', [cap('ms', 5)]), noon + 5]],
      'refused',
    ],
    [
      'some time is left',
      [request('a', [cap('ms', 5)]), [child('b', [cap('ms', 5)]), noon + 4]],
      'granted',
    ],
  ])('is decided if %s', (_, records, kind) => {
    expect(decisionAfter(...records)).toMatchObject({ kind })
  })
})

it('parallel attempts in any order pass a budget by less than one reservation', () => {
  const attempts = fc.array(
    fc.record({
      bound: fc.integer({ min: 1, max: 60 }),
      part: fc.double({ min: 0, max: 1, noNaN: true }),
      end: fc.constantFrom('settle', 'lose', 'release'),
    }),
    { minLength: 1, maxLength: 64 },
  )
  fc.assert(
    fc.property(attempts, fc.infiniteStream(fc.nat()), (all, picks) => {
      const ledger: Ledger = emptyLedger()
      const open: number[] = []
      let next = 0
      let used = 0
      for (const pick of picks) {
        if (next === all.length && open.length === 0) break
        const starts = next < all.length && (open.length === 0 || pick % 2 === 0)
        if (starts) {
          const n = next++
          const { bound } = all[n] as (typeof all)[0]
          const decision = applyToLedger(ledger, reserve(`${n}`, { tokens: bound }), noon)
          if (decision?.kind === 'granted') open.push(n)
          continue
        }
        const [n = 0] = open.splice(pick % open.length, 1)
        const { bound, part, end } = all[n] as (typeof all)[0]
        const spent = end === 'release' ? 0 : Math.floor(bound * part)
        used += spent
        if (end === 'settle') applyToLedger(ledger, settle(`${n}`, spent), noon)
        if (end === 'release') applyToLedger(ledger, release(`${n}`), noon)
      }
      expect(used).toBeLessThan(100 + 60)
    }),
  )
})
