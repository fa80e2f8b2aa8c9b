// The use of a tenant's budgets, folded from its records of the topic `budgets`. Every process that
// folds them gets the same result, so no process decides for another one.
// Only earlier records of the partition decide a reservation. It is granted while each of
// its hard budgets has something left, so a budget is passed by one reservation at most.
// A reservation counts in full until its settle or release. From its expiry on, nothing
// changes it any more. A child only stops running.
// A child that reserves again keeps its place: a further try of its call is the same child.
// The release of one try leaves the place to the others.

import type { TurnId } from '../../contract/ids.ts'
import { limits } from '../../contract/limits.ts'
import type {
  BudgetInForce,
  BudgetReleased,
  BudgetReserved,
  BudgetSettled,
  BudgetUnit,
  BudgetUse,
  BudgetWindow,
} from '../../contract/messages.ts'
import { turnLongestMs } from '../../contract/retention.ts'
import type { Milliseconds } from '../../lib/clock.ts'
import {
  emptyOnceTable,
  endValues,
  type OnceDecision,
  type OnceTable,
  reserveValues,
  sweep,
} from './once-table.ts'

/**
 * The use of one budget by one subject in one window. `turn`: of a budget for each turn. `held`:
 * reserved, not settled. `warned`: its soft amount was reached. `since`: its first reservation.
 * `until`: the end of the window.
 */
export type Account = {
  tenant: string
  id: string
  subject: string
  window: string
  turn: TurnId | null
  unit: BudgetUnit
  used: number
  held: number
  warned: boolean
  since: Milliseconds
  until: Milliseconds
}

/** `tries`: how often a child reserved it. */
type Held = {
  expiresAt: Milliseconds
  tries: number
  entries: { account: Account; amount: number }[]
}

/** `open`: reservations without settle or release, by attempt. `once`: those of values. */
export type Ledger = {
  accounts: Map<string, Account>
  open: Map<string, Held>
  once: OnceTable
  /** No open reservation lapses before it. */
  lapsesAt: Milliseconds
  sweepAt: Milliseconds
}

export type LedgerRecord = BudgetReserved | BudgetSettled | BudgetReleased

/**
 * A use counts reserved amounts too. `soft`: budgets whose soft amount is reached for the first time
 * in their window.
 */
export type Decision =
  | { kind: 'granted'; soft: BudgetUse[] }
  | { kind: 'refused'; hard: BudgetUse; soft: BudgetUse[] }
  | Exclude<OnceDecision, { kind: 'granted' }>

const sweepEveryMs: Milliseconds = 3_600_000

export function emptyLedger(): Ledger {
  return {
    accounts: new Map(),
    open: new Map(),
    once: emptyOnceTable(),
    lapsesAt: Number.POSITIVE_INFINITY,
    sweepAt: 0,
  }
}

/**
 * Changes the ledger in place. `time`: the append time of the record. Returns the decision on a
 * reservation. Undefined: the record is none, or repeats one.
 */
export function applyToLedger(
  ledger: Ledger,
  record: LedgerRecord,
  time: Milliseconds,
): Decision | undefined {
  lapse(ledger, time)
  if (record.type === 'budget-reserved') return reserve(ledger, record, time)
  const held = ledger.open.get(record.attempt)
  if (held === undefined) return void endValues(ledger.once, record, time)
  held.tries -= 1
  if (record.type === 'budget-released' && held.tries > 0) return undefined
  ledger.open.delete(record.attempt)
  for (const { account, amount } of held.entries) {
    account.held -= amount
    if (record.type === 'budget-settled') account.used += settledIn(account, record, amount)
  }
  return undefined
}

/** The reservation counts only if it is granted. */
function reserve(ledger: Ledger, record: BudgetReserved, time: Milliseconds): Decision | undefined {
  const { once } = record
  if (once !== null) {
    const decision = reserveValues(ledger.once, record, { once, time })
    return decision.kind === 'granted' ? { ...decision, soft: [] } : decision
  }
  const open = ledger.open.get(record.attempt)
  if (open !== undefined && record.children === 0) return undefined
  if (open !== undefined) {
    open.expiresAt = Math.max(open.expiresAt, record.expiresAt)
    open.tries += 1
    return { kind: 'granted', soft: [] }
  }
  const uses = record.budgets.map((budget) => {
    const account = accountOf(ledger, record, budget, time)
    return { budget, account, used: usedOf(account, time) }
  })
  const soft = uses.filter(
    ({ budget, account }) => !account.warned && budget.soft !== null && account.used >= budget.soft,
  )
  for (const { account } of soft) account.warned = true
  const hard = uses.find(({ budget, used }) => budget.hard !== null && used >= budget.hard)
  if (hard !== undefined) return { kind: 'refused', hard, soft }
  const entries = uses.map(({ account }) => ({ account, amount: amountOf(record, account.unit) }))
  for (const { account, amount } of entries) account.held += amount
  ledger.open.set(record.attempt, { expiresAt: record.expiresAt, tries: 1, entries })
  ledger.lapsesAt = Math.min(ledger.lapsesAt, record.expiresAt)
  return { kind: 'granted', soft }
}

/** Ends reservations by time, and forgets windows that are over. */
export function lapse(ledger: Ledger, time: Milliseconds): void {
  const { accounts, open } = ledger
  if (time >= ledger.lapsesAt) {
    ledger.lapsesAt = Number.POSITIVE_INFINITY
    for (const [attempt, { expiresAt, entries }] of open) {
      if (time < expiresAt) {
        ledger.lapsesAt = Math.min(ledger.lapsesAt, expiresAt)
        continue
      }
      open.delete(attempt)
      for (const { account, amount } of entries) {
        account.held -= amount
        if (account.unit !== 'running') account.used += amount
      }
    }
  }
  if (time < ledger.sweepAt) return
  ledger.sweepAt = time + sweepEveryMs
  sweep(ledger.once, time)
  for (const [key, { until, held }] of accounts)
    if (until <= time && held === 0) accounts.delete(key)
}

function accountOf(
  { accounts }: Ledger,
  { tenant, conversation, turn, tree }: BudgetReserved,
  { id, subject, window, unit }: BudgetInForce,
  time: Milliseconds,
): Account {
  const name = windowName(window, { conversation, turn, tree }, time)
  const key = JSON.stringify([tenant, id, subject, name])
  const known = accounts.get(key)
  if (known !== undefined) {
    if (window === 'tree') known.until = endOf(window, time) // as long as its turns
    return known
  }
  const account: Account = {
    tenant,
    id,
    subject,
    window: name,
    unit,
    turn: window === 'turn' ? { conversation, turn } : null,
    used: 0,
    held: 0,
    warned: false,
    since: time,
    until: endOf(window, time),
  }
  accounts.set(key, account)
  return account
}

/** The amount of a reservation, or the use of a settle in tokens and money. */
function amountOf(
  record: Pick<BudgetReserved, 'tokens' | 'usd'> & Partial<Pick<BudgetReserved, 'children'>>,
  unit: BudgetUnit,
): number {
  const { children = 0 } = record
  switch (unit) {
    case 'tokens':
      return Math.max(0, record.tokens)
    case 'usd':
      return Math.max(0, record.usd ?? 0)
    case 'rounds':
      return children > 0 ? 0 : 1
    case 'children':
    case 'running':
      return Math.max(0, children)
    case 'ms':
      return 0
  }
}

/** `held`: the reserved amount, which a settle of a child or a round uses up. */
function settledIn({ unit }: Account, record: BudgetSettled, held: number): number {
  if (unit === 'tokens' || unit === 'usd') return amountOf(record, unit)
  return unit === 'running' ? 0 : held
}

/** With the reserved amounts. Time passes without a record. */
function usedOf({ unit, used, held, since }: Account, time: Milliseconds): number {
  return unit === 'ms' ? Math.max(0, time - since) : used + held
}

function windowName(
  window: BudgetWindow,
  { conversation, turn, tree }: Pick<BudgetReserved, 'conversation' | 'turn' | 'tree'>,
  time: Milliseconds,
): string {
  if (window === 'turn') return JSON.stringify([conversation, turn])
  return window === 'tree' ? tree : dateOf(window, time)
}

/** In UTC: `2026-11-23`, `2026-11`. */
function dateOf(window: 'day' | 'month', time: Milliseconds): string {
  return new Date(time).toISOString().slice(0, window === 'day' ? 10 : 7)
}

function endOf(window: BudgetWindow, time: Milliseconds): Milliseconds {
  if (window === 'turn' || window === 'tree') return time + turnLongestMs
  const date = new Date(time)
  return window === 'day'
    ? Date.UTC(date.getUTCFullYear(), date.getUTCMonth(), date.getUTCDate() + 1)
    : Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1, 1)
}

/** The time from which a fold must read to know all windows and values that are open at `time`. */
export function ledgerSince(time: Milliseconds): Milliseconds {
  const date = new Date(time)
  const month = Date.UTC(date.getUTCFullYear(), date.getUTCMonth(), 1) - turnLongestMs
  return Math.min(month, time - limits.onceMsMax)
}
