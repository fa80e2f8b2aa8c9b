// The values of calls that must not run twice in a tenant, by their hash. Part of the ledger. Pure.
// One call holds values: while its reservation is open, and for its time after a settle or
// an expiry. After an expiry it may have run (R6). Only a release frees them before.
// A further try of the call holds the values too. Values are free once each try is released,
// and an expired try never is (test/models/once.py).
// A full table refuses: a forgotten call could run twice (R6, R7).

import type { TurnId } from '../../contract/ids.ts'
import { limits } from '../../contract/limits.ts'
import type { BudgetReleased, BudgetReserved, BudgetSettled } from '../../contract/messages.ts'
import type { Milliseconds } from '../../lib/clock.ts'

/** `tries`: without a release. `until`: the time from which the values of an ended call are free. */
type Holder = TurnId & {
  call: string
  tries: number
  since: Milliseconds
  expiresAt: Milliseconds
  until: Milliseconds
  isDone: boolean
}

/** `byTenant`: the holders by their values. `open`: the values of calls without a settle, by tenant and call. */
export type OnceTable = {
  byTenant: Map<string, Map<string, Holder>>
  open: Map<string, string>
}

/** The call that holds equal values, by the name of its reservation. `since`: the append time of that record. */
export type EqualCall = Pick<Holder, 'conversation' | 'turn' | 'call' | 'since'> & {
  status: 'open' | 'done' | 'unknown'
}

export type OnceDecision =
  | { kind: 'granted' }
  | { kind: 'equal'; call: EqualCall }
  | { kind: 'full' }

export function emptyOnceTable(): OnceTable {
  return { byTenant: new Map(), open: new Map() }
}

/** Changes the table in place. `time`: the append time of the record. */
export function reserveValues(
  table: OnceTable,
  { tenant, attempt: call, conversation, turn, expiresAt }: BudgetReserved,
  {
    once: { hash, forMs },
    time,
  }: { once: { hash: string; forMs: Milliseconds }; time: Milliseconds },
): OnceDecision {
  const values = table.byTenant.get(tenant) ?? new Map<string, Holder>()
  const held = values.get(hash)
  const holder = held === undefined || isFree(held, time) ? undefined : held
  if (holder !== undefined && (holder.call !== call || holder.isDone)) {
    const { conversation, turn, call, since } = holder
    const status = statusOf(holder, time)
    return { kind: 'equal', call: { conversation, turn, call, since, status } }
  }
  if (holder === undefined && values.size >= limits.onceTenantValuesMax) sweep(table, time)
  if (holder === undefined && values.size >= limits.onceTenantValuesMax) return { kind: 'full' }
  values.set(hash, {
    conversation,
    turn,
    call,
    tries: (holder?.tries ?? 0) + 1,
    since: time,
    expiresAt: Math.max(expiresAt, holder?.expiresAt ?? 0),
    until: time + Math.min(forMs, limits.onceMsMax),
    isDone: false,
  })
  table.byTenant.set(tenant, values)
  table.open.set(nameOf(tenant, call), hash)
  return { kind: 'granted' }
}

/** Ignores a call that holds no values, or whose reservation has expired. */
export function endValues(
  { byTenant, open }: OnceTable,
  { type, tenant, attempt: call }: BudgetSettled | BudgetReleased,
  time: Milliseconds,
): void {
  const name = nameOf(tenant, call)
  const hash = open.get(name) ?? ''
  const holder = byTenant.get(tenant)?.get(hash)
  if (holder?.call !== call || statusOf(holder, time) !== 'open') return
  if (type === 'budget-settled') holder.isDone = true
  else holder.tries -= 1
  if (holder.tries === 0) byTenant.get(tenant)?.delete(hash)
  if (holder.tries === 0 || holder.isDone) open.delete(name)
}

/** Forgets free values. */
export function sweep({ byTenant, open }: OnceTable, time: Milliseconds): void {
  for (const [tenant, values] of byTenant) {
    for (const [hash, holder] of values) {
      if (!isFree(holder, time)) continue
      values.delete(hash)
      open.delete(nameOf(tenant, holder.call))
    }
    if (values.size === 0) byTenant.delete(tenant)
  }
}

function nameOf(tenant: string, call: string): string {
  return JSON.stringify([tenant, call])
}

function statusOf({ isDone, expiresAt }: Holder, time: Milliseconds): EqualCall['status'] {
  if (isDone) return 'done'
  return time < expiresAt ? 'open' : 'unknown'
}

function isFree(holder: Holder, time: Milliseconds): boolean {
  return holder.until <= time && statusOf(holder, time) !== 'open'
}
