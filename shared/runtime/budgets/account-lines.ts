// The lines of providers' accounts, as one process sees them: it reserves a slot, and waits for the start
// that all processes compute. While the request runs it renews the slot, and then it reports the end.
// Reads: budgets. Writes: slot-reserved, slot-renewed and slot-settled to budgets.
// Without limits, and without a refusal of the provider, nothing is written and nothing
// waits.
// A line without a request and without a pace leaves memory, also if no record of its
// account follows. Another record of the partition is enough.
// A line that cannot be read holds no request: a limit is the provider's own to enforce.
// Only its own start begins a request. One whose round has a newer attempt waits, and goes back into the line
// if that attempt ends first: this process may still own the round.

import { createHash } from 'node:crypto'
import { hasInForce } from '../../codec/codec.ts'
import { limits } from '../../contract/limits.ts'
import type { ModelLimits, SlotReserved, SlotSettled } from '../../contract/messages.ts'
import type { Milliseconds } from '../../lib/clock.ts'
import type { BudgetContext, BudgetFollower } from './budget-follower.ts'
import {
  applyToLine,
  attemptInLine,
  emptyLine,
  hasLimits,
  isIdle,
  isOfLine,
  isUnderPressure,
  type LineRecord,
  type LineWait,
  noModelLimits,
  plannedStarts,
  type RequestLine,
  waitOfLine,
} from './request-line.ts'

/** How often a running request renews its place. A broker is away for less than slotLeaseMs. */
export const slotRenewMs = 20_000
/** Records of a provider's account that a new process reads. */
const slotsKeptMs = 15 * 60_000

/** `key`: of the provider's account. `server`: the origin of its address. */
export type ProviderAccount = { server: string; key: string; model: string }

/**
 * `request`: all attempts of a round have this name. Absent: nobody tries again. `limits` undefined: those
 * that the provider shows only.
 */
export type SlotRequest = Pick<SlotReserved, 'tenant' | 'share' | 'attempt' | 'expiresAt'> & {
  account: ProviderAccount
  request?: string
  limits?: ModelLimits | undefined
}

/**
 * `ahead`: requests that start earlier. `waitMs`: the planned time to the start. Nobody knows when
 * running requests end, so they do not count.
 */
export type SlotWait = { reason: LineWait; ahead: number; waitMs: Milliseconds }

export type SlotEnd = Pick<SlotSettled, 'tokens' | 'refusedBy' | 'waitMs'>

export type Slot = {
  /** Too many requests wait for the account, so this one must not start. */
  isRefused?: true
  /** The first call counts. Never rejects: a place without its end comes back with its lease. */
  settle(end: SlotEnd): Promise<void>
}

export type AccountLines = {
  /**
   * Resolves when the request may start, or to a refused slot. Undefined: `stop` has aborted.
   * `onWait`: called once, if it waits.
   */
  slot(
    context: BudgetContext,
    request: SlotRequest,
    options: { stop: AbortSignal; onWait: (wait: SlotWait) => void },
  ): Promise<Slot | undefined>
}

/** The end of a request whose use is unknown. */
export const unknownEnd: SlotEnd = { tokens: null, refusedBy: null, waitMs: 0 }

/** `sweptSize`: the number of lines after the newest search for idle ones. */
type Lines = { byAccount: Map<string, RequestLine>; sweptSize: number }

/**
 * `behindMs`: how far the log's time is behind this clock, at most. Undefined: not read yet. `isReplaced`: a
 * newer attempt of its round has its place.
 */
type Waiter = Pick<SlotReserved, 'attempt' | 'request'> & {
  behindMs: Milliseconds | undefined
  isReplaced: boolean
  reserve: () => void
  start: (how: 'start' | 'full') => void
  onWait: (wait: () => SlotWait) => void
}

/** The longest time between two looks at a line. */
const looksMs: Milliseconds = 60_000
/** Shorter waits are not reported. */
const reportedWaitMs: Milliseconds = 1000

/** So the search for idle lines costs each record little. */
const sweepsFrom = 64

export function createAccountLines(follower: BudgetFollower): AccountLines {
  const waiters = new Map<string, Map<string, Waiter>>()
  const timers = new Map<string, () => void>()
  /** The newest offset of each partition. A fold that begins anew decides nothing before it is there. */
  const readTo = new Map<number, number>()

  const follow = follower.attach<Lines>({
    since: (now) => now - slotsKeptMs,
    begin: () => ({ byAccount: new Map(), sweptSize: 0 }),
    apply(lines, { partition, end, records }, context) {
      const changed = new Set<string>()
      for (const { message, time } of records) {
        if (!isOfLine(message)) continue
        applyToLines(lines, message, time)
        const waiter = waiters.get(message.account)?.get(message.attempt)
        if (waiter !== undefined) waiter.behindMs ??= context.clock.now() - time
        changed.add(message.account)
      }
      if (end < (readTo.get(partition) ?? 0)) return
      readTo.set(partition, end)
      for (const account of changed) serve(account, lines, context)
    },
  })

  /** Starts the waiting requests of this process whose time has come. */
  function serve(account: string, lines: Lines, context: BudgetContext): void {
    timers.get(account)?.()
    timers.delete(account)
    const own = waiters.get(account)
    if (own === undefined) return
    const { clock } = context
    const now = clock.now()
    const line = lines.byAccount.get(account) ?? emptyLine()
    const starts = plannedStarts(line)
    const order = [...starts.keys()]
    let nextMs = looksMs
    for (const waiter of own.values()) {
      const { attempt, behindMs } = waiter
      if (behindMs === undefined || isOutOfLine(line, waiter)) continue
      const at = starts.get(attempt) ?? line.running.get(attempt)?.at
      if (at === undefined) continue // it expires first
      if (at + behindMs <= now) waiter.start('start')
      else {
        const waitMs = at + behindMs - now
        nextMs = Math.min(nextMs, waitMs)
        const reason = waitOfLine(line, now - behindMs)
        if (waitMs > reportedWaitMs && reason !== undefined)
          waiter.onWait(() => {
            const free = plannedStarts(line, { ignoresRunning: true }).get(attempt) ?? at
            const plannedMs = Math.max(0, free + behindMs - now)
            return { reason, ahead: order.indexOf(attempt), waitMs: plannedMs }
          })
      }
    }
    if (own.size > 0)
      timers.set(
        account,
        clock.after(nextMs, () => serve(account, lines, context)),
      )
  }

  async function inLine(
    context: BudgetContext,
    { account, request: round, limits: given = noModelLimits, ...reserved }: SlotRequest,
    { stop, onWait }: Parameters<AccountLines['slot']>[2],
  ): Promise<Slot | undefined> {
    const { attempt } = reserved
    const salt = await context.budgets.salt()
    const { server, key, model } = account
    const id = saltedHash(salt, server, key, model)
    const request = round === undefined ? '' : saltedHash(salt, round)
    const { state } = follow(context, await context.budgets.partitionOf(id))
    const line = state.byAccount.get(id)
    const isHeld = line !== undefined && isUnderPressure(line, context.clock.now())
    const own = { account: id, attempt }
    if (!hasLimits(given) && !isHeld) return slotOf(context, own, false)

    const started = Promise.withResolvers<'start' | 'full' | undefined>()
    const type = 'slot-reserved' as const
    const reservation = { type, ...own, ...reserved, request, limits: given }
    const waiter: Waiter = {
      attempt,
      request,
      behindMs: undefined,
      isReplaced: false,
      reserve() {
        waiter.behindMs = undefined
        startUnlessRead()
        void append(context, reservation)
      },
      start: started.resolve,
      onWait: once((wait) => onWait(wait())),
    }
    const all = waiters.get(id) ?? new Map<string, Waiter>()
    waiters.set(id, all.set(attempt, waiter))
    const leave = () => started.resolve(undefined)
    stop.addEventListener('abort', leave, { once: true })
    let cancel = () => {}
    function startUnlessRead(): void {
      cancel()
      cancel = context.clock.after(limits.budgetReadMs, () => {
        if (waiter.behindMs === undefined) started.resolve('start')
      })
    }
    try {
      await context.budgets.append(id, reservation)
      startUnlessRead()
      if (stop.aborted) leave()
      const how = await started.promise
      if (how === 'start') return slotOf(context, own, true)
      if (how === 'full') return refusedSlot
      await append(context, { type: 'slot-settled', ...own, ...unknownEnd })
      return undefined
    } finally {
      cancel()
      stop.removeEventListener('abort', leave)
      all.delete(attempt)
      if (all.size === 0) {
        waiters.delete(id)
        timers.get(id)?.()
        timers.delete(id)
      }
    }
  }

  return {
    async slot(context, request, options) {
      if (!hasInForce('slot-reserved', 'account')) return freeSlot
      try {
        return await inLine(context, request, options)
      } catch (error) {
        context.log.warn({ err: error }, 'the line of a provider cannot be used')
        return freeSlot
      }
    },
  }
}

/** Whether its attempt has no place: another attempt of its round has it, or the line is full. */
function isOutOfLine(line: RequestLine, waiter: Waiter): boolean {
  const inLine = attemptInLine(line, waiter)
  if (inLine === waiter.attempt) return false
  if (inLine === undefined && waiter.isReplaced) waiter.reserve()
  else if (inLine === undefined) waiter.start('full')
  waiter.isReplaced = inLine !== undefined
  return true
}

function slotOf(
  context: BudgetContext,
  own: Pick<SlotSettled, 'account' | 'attempt'>,
  isReserved: boolean,
): Slot {
  let isSettled = false
  let cancelRenewal = () => {}
  /** From the start of the request on. */
  function renewLater(): void {
    cancelRenewal = context.clock.after(slotRenewMs, () => {
      void append(context, { type: 'slot-renewed', ...own })
      renewLater()
    })
  }
  if (isReserved) renewLater()
  return {
    async settle(end) {
      if (isSettled) return
      isSettled = true
      cancelRenewal()
      if (isReserved || end.refusedBy !== null || end.waitMs > 0)
        await append(context, { type: 'slot-settled', ...own, ...end })
    },
  }
}

function applyToLines(lines: Lines, record: LineRecord, time: Milliseconds): void {
  const { byAccount, sweptSize } = lines
  const line = byAccount.get(record.account) ?? emptyLine()
  applyToLine(line, record, time)
  if (isIdle(line, time)) byAccount.delete(record.account)
  else byAccount.set(record.account, line)
  if (byAccount.size <= 2 * sweptSize + sweepsFrom) return
  for (const [account, other] of byAccount) if (isIdle(other, time)) byAccount.delete(account)
  lines.sweptSize = byAccount.size
}

async function append(context: BudgetContext, record: LineRecord): Promise<void> {
  try {
    await context.budgets.append(record.account, record)
  } catch (error) {
    context.log.warn({ err: error }, `a ${record.type} of a model request could not be written`)
  }
}

/** Of a request that no line concerns. */
export const freeSlot: Slot = { async settle() {} }

const refusedSlot: Slot = { ...freeSlot, isRefused: true }

/** No key can be found from it, and another deployment has another one. */
function saltedHash(...parts: string[]): string {
  return createHash('sha256').update(JSON.stringify(parts)).digest('hex').slice(0, 32)
}

function once<T>(call: (value: T) => void): (value: T) => void {
  let isCalled = false
  return (value) => {
    if (isCalled) return
    isCalled = true
    call(value)
  }
}
