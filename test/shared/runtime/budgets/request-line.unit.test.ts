// The line of a provider's account, record by record.

import { describe, expect, it } from '@jest/globals'
import { limits } from '../../../../shared/contract/limits.ts'
import type {
  ModelLimits,
  SlotReserved,
  SlotSettled,
} from '../../../../shared/contract/messages.ts'
import { slotRenewMs } from '../../../../shared/runtime/budgets/account-lines.ts'
import {
  applyToLine,
  attemptInLine,
  emptyLine,
  isIdle,
  isUnderPressure,
  noModelLimits,
  plannedStarts,
  type RequestLine,
  slotDebtMsMax,
  slotPaceDoublesMs,
  slotPaceMin,
  slotProbeMs,
  waitOfLine,
} from '../../../../shared/runtime/budgets/request-line.ts'

const t0 = 1_000_000
const account = 'a'

function reserve(
  line: RequestLine,
  attempt: string,
  time: number,
  given: Partial<ModelLimits> &
    Partial<Pick<SlotReserved, 'tenant' | 'share' | 'expiresAt' | 'request'>> = {},
): void {
  const { tenant = 'acme', share = 1, expiresAt = t0 + 1e9, request = '', ...limited } = given
  const own = { account, attempt, request, tenant, share, expiresAt }
  applyToLine(
    line,
    { type: 'slot-reserved', ...own, limits: { ...noModelLimits, ...limited } },
    time,
  )
}

function settle(
  line: RequestLine,
  attempt: string,
  time: number,
  end: Partial<Pick<SlotSettled, 'tokens' | 'refusedBy' | 'waitMs'>> = {},
): void {
  const ended = { tokens: null, refusedBy: null, waitMs: 0, ...end }
  applyToLine(line, { type: 'slot-settled', account, attempt, ...ended }, time)
}

function renew(line: RequestLine, attempt: string, time: number): void {
  applyToLine(line, { type: 'slot-renewed', account, attempt }, time)
}

const names = (count: number, prefix = 'r') =>
  Array.from({ length: count }, (_, n) => `${prefix}${n}`)

/** The starts of these requests, past or planned. */
function startsOf(line: RequestLine, attempts: readonly string[]): number[] {
  const planned = plannedStarts(line)
  return attempts.map((one) => planned.get(one) ?? line.running.get(one)?.at ?? Number.NaN)
}

const gaps = (starts: readonly number[]) => starts.slice(1).map((at, n) => at - (starts[n] ?? 0))

describe('a provider that refuses a request', () => {
  it('holds all requests for the wait that it named, and 20 waits end at 20 different times', () => {
    const line = emptyLine()
    settle(line, 'refused', t0, { refusedBy: 'limit', waitMs: 60_000 })
    for (const one of names(20)) reserve(line, one, t0 + 10)
    const starts = startsOf(line, names(20))
    expect(starts[0]).toBe(t0 + 60_000)
    expect(Math.min(...gaps(starts))).toBeGreaterThanOrEqual(60_000 / slotPaceMin / 8)
    expect(new Set(starts).size).toBe(20)
  })

  it('lets one request go first, as a probe', () => {
    const line = emptyLine()
    settle(line, 'refused', t0, { refusedBy: 'limit', waitMs: 120_000 })
    for (const one of names(3)) reserve(line, one, t0 + 110_000)
    const [first = 0, second = 0] = startsOf(line, names(3))
    expect(first).toBe(t0 + 120_000)
    expect(second - first).toBeGreaterThanOrEqual(slotProbeMs)
  })

  it('puts requests back that wait for an earlier start than its new wait', () => {
    const line = emptyLine()
    for (const one of names(4)) reserve(line, one, t0, { requestsPerMinute: 60 })
    settle(line, 'r0', t0 + 500, { refusedBy: 'limit', waitMs: 30_000 })
    expect(Math.min(...startsOf(line, ['r1', 'r2', 'r3']))).toBe(t0 + 30_500)
  })

  it('cannot hold requests for a year', () => {
    const line = emptyLine()
    settle(line, 'refused', t0, { refusedBy: 'limit', waitMs: 365 * 24 * 3_600_000 })
    settle(line, 'early', t0, { refusedBy: 'limit', waitMs: -5 })
    reserve(line, 'r', t0)
    expect(startsOf(line, ['r'])).toEqual([t0 + limits.retryAfterMsMax])
  })

  it('gets requests at the pace that it accepted, and later a little faster', () => {
    const line = emptyLine()
    settle(line, 'refused', t0, { refusedBy: 'limit', waitMs: 0 })
    for (const one of names(200)) reserve(line, one, t0)
    settle(line, 'late', t0 + 27_000, { waitMs: 0 })
    const running = [...line.running.keys()].at(-1) ?? ''
    settle(line, running, t0 + 28_000, { refusedBy: 'limit', waitMs: 1000 })
    expect(line.pace).toEqual({ kind: 'held', perMinute: 40, since: t0 + 28_000 })
    const later = [...plannedStarts(line).values()]
    expect(
      gaps(later)
        .slice(1, 50)
        .every((gap) => Math.abs(gap - 1500) <= 1),
    ).toBe(true)
    expect(Math.min(...gaps(later).slice(-5))).toBeLessThanOrEqual(1500)
  })

  it('does not slow down by a refusal of a request from before the present pace', () => {
    const line = emptyLine()
    for (const one of names(10)) settle(line, one, t0, { refusedBy: 'limit', waitMs: 100 })
    expect(line.pace).toEqual({ kind: 'rising', perMinute: slotPaceMin, since: t0 + 100 })
  })

  it('counts as free again after enough accepted requests', () => {
    const line = emptyLine()
    settle(line, 'refused', t0, { refusedBy: 'overload', waitMs: 1000 })
    expect(isUnderPressure(line, t0 + 1999)).toBe(true)
    expect(isUnderPressure(line, t0 + 100_000)).toBe(false)
    expect(isIdle(line, t0 + 100_000)).toBe(true)
  })

  it('holds no other request back if it is overloaded and names a wait below a second', () => {
    const line = emptyLine()
    settle(line, 'refused', t0, { refusedBy: 'overload', waitMs: 999 })
    expect(isUnderPressure(line, t0)).toBe(false)
    expect(isIdle(line, t0)).toBe(true)
  })

  it('halves a pace that is in force with each overload', () => {
    const line = emptyLine()
    settle(line, 'first', t0, { refusedBy: 'overload', waitMs: 1000 })
    const later = t0 + 1000 + 2 * slotPaceDoublesMs
    reserve(line, 'second', later)
    settle(line, 'second', later, { refusedBy: 'overload', waitMs: 0 })
    expect(line.pace).toMatchObject({ kind: 'rising', perMinute: 2 * slotPaceMin })
  })

  it('holds requests too if its headers show an exhausted limit', () => {
    const line = emptyLine()
    settle(line, 'answered', t0, { tokens: 100, waitMs: 7000 })
    reserve(line, 'r', t0 + 1)
    expect(startsOf(line, ['r'])).toEqual([t0 + 7000])
    expect(waitOfLine(line, t0 + 1)).toBe('closed')
  })
})

describe('limits of a model', () => {
  it('start no more requests within any minute than requestsPerMinute', () => {
    const line = emptyLine()
    for (const one of names(100)) reserve(line, one, t0, { requestsPerMinute: 20 })
    const starts = startsOf(line, names(100))
    const most = Math.max(
      ...starts.map((from) => starts.filter((at) => at >= from && at <= from + 60_000).length),
    )
    expect(most).toBe(20)
    expect((starts.at(-1) ?? 0) - t0).toBeLessThan((99 / 20) * 60_000 * 1.03)
    expect(waitOfLine(line, t0)).toBe('requestsPerMinute')
  })

  it('start a request when another one ends, under requestsAtOnce', () => {
    const line = emptyLine()
    for (const one of names(3)) reserve(line, one, t0, { requestsAtOnce: 2 })
    expect(waitOfLine(line, t0)).toBe('requestsAtOnce')
    expect(startsOf(line, ['r2'])).toEqual([t0 + limits.slotLeaseMs])
    settle(line, 'r1', t0 + 5000, { tokens: 10 })
    expect(line.running.get('r2')?.at).toBe(t0 + 5000)
  })

  it('give a place back with its lease if the process of a request is gone', () => {
    const line = emptyLine()
    for (const one of names(2)) reserve(line, one, t0, { requestsAtOnce: 1 })
    reserve(line, 'r2', t0 + limits.slotLeaseMs + 1, { requestsAtOnce: 1 })
    expect([...line.running.keys()]).toEqual(['r1'])
    expect([...line.waiting.keys()]).toEqual(['r2'])
  })

  it('free the place of a killed gateway for the next owner of its round', () => {
    const line = emptyLine()
    const requestsAtOnce = 2
    for (const one of names(4)) reserve(line, one, t0, { requestsAtOnce, request: `round ${one}` })
    reserve(line, 'next0', t0 + 3000, { requestsAtOnce, request: 'round r0' })
    expect([...line.running.keys()]).toEqual(['r1', 'next0'])
    settle(line, 'r0', t0 + 4000) // of the killed gateway, or of a zombie
    renew(line, 'r0', t0 + 4000)
    expect([...line.running.keys()]).toEqual(['r1', 'next0'])
    settle(line, 'next0', t0 + 5000)
    expect([...line.running.keys()]).toEqual(['r1', 'r2'])
  })

  it('keep the turn of a waiting round when its gateway is killed', () => {
    const line = emptyLine()
    const requestsAtOnce = 1
    for (const one of names(4)) reserve(line, one, t0, { requestsAtOnce, request: `round ${one}` })
    reserve(line, 'next1', t0 + 3000, { requestsAtOnce, request: 'round r1' })
    expect([...line.waiting.keys()]).toEqual(['next1', 'r2', 'r3'])
    expect(attemptInLine(line, { attempt: 'r1', request: 'round r1' })).toBe('next1')
    expect(attemptInLine(line, { attempt: 'other', request: '' })).toBeUndefined()
  })

  it('keep the place of a long request that its process renews', () => {
    const line = emptyLine()
    for (const one of names(2)) reserve(line, one, t0, { requestsAtOnce: 1 })
    for (let ms = 0; ms <= 3 * limits.slotLeaseMs; ms += slotRenewMs) renew(line, 'r0', t0 + ms)
    expect([...line.running.keys()]).toEqual(['r0'])
    expect(startsOf(line, ['r1'])).toEqual([t0 + 4 * limits.slotLeaseMs])
  })

  it('give back the tokens of a request that the provider refused', () => {
    const line = emptyLine()
    reserve(line, 'r0', t0, { tokensPerMinute: 3000 })
    settle(line, 'r0', t0 + 200, { refusedBy: 'limit', waitMs: 5000 })
    reserve(line, 'r1', t0 + 300, { tokensPerMinute: 3000 })
    expect(startsOf(line, ['r1'])).toEqual([t0 + 5200])
  })

  it('plan with running requests for their lease, or without them', () => {
    const line = emptyLine()
    reserve(line, 'r0', t0, { requestsAtOnce: 1 })
    reserve(line, 'r1', t0 + 10, { requestsAtOnce: 1 })
    expect(plannedStarts(line).get('r1')).toBe(t0 + limits.slotLeaseMs)
    expect(plannedStarts(line, { ignoresRunning: true }).get('r1')).toBe(t0 + 10)
  })

  it('count the tokens of answers against tokensPerMinute', () => {
    const line = emptyLine()
    const tokensPerMinute = 10_000
    reserve(line, 'r0', t0, { tokensPerMinute })
    settle(line, 'r0', t0 + 1000, { tokens: 10_000 })
    reserve(line, 'r1', t0 + 2000, { tokensPerMinute })
    const [at = 0] = startsOf(line, ['r1'])
    expect(at).toBeGreaterThanOrEqual(t0 + 60_000)
    expect(at).toBeLessThan(t0 + 65_000)
    expect(waitOfLine(line, t0 + 2000)).toBe('tokensPerMinute')
  })

  it('bound the wait for tokens that a hostile answer counts', () => {
    const line = emptyLine()
    reserve(line, 'r0', t0, { tokensPerMinute: 1 })
    settle(line, 'r0', t0 + 1, { tokens: 1e15 })
    reserve(line, 'r1', t0 + 2, { tokensPerMinute: 1 })
    expect(startsOf(line, ['r1'])).toEqual([t0 + 1 + slotDebtMsMax])
  })

  it('start requests of tenants by their shares, also if one tenant waits with a hundred', () => {
    const line = emptyLine()
    for (const one of names(100, 'big')) reserve(line, one, t0, { requestsPerMinute: 60 })
    for (const one of names(10, 'small'))
      reserve(line, one, t0 + 1, { requestsPerMinute: 60, tenant: 'small' })
    for (const one of names(20, 'paid'))
      reserve(line, one, t0 + 2, { requestsPerMinute: 60, tenant: 'paid', share: 2 })
    const order = [...plannedStarts(line).keys()].slice(0, 40)
    const count = (prefix: string) => order.filter((one) => one.startsWith(prefix)).length
    expect([count('big'), count('small'), count('paid')]).toEqual([10, 10, 20])
  })

  it('start no request after its round has expired', () => {
    const line = emptyLine()
    reserve(line, 'r0', t0, { requestsPerMinute: 1 })
    reserve(line, 'r1', t0, { requestsPerMinute: 1, expiresAt: t0 + 10_000 })
    reserve(line, 'r2', t0, { requestsPerMinute: 1 })
    const [r1 = 0, r2 = 0] = startsOf(line, ['r1', 'r2'])
    expect(r1).toBeNaN()
    expect(r2).toBeLessThan(t0 + 62_000)
  })
})

describe('a line', () => {
  it('plans exactly the starts that its later records show', () => {
    const line = emptyLine()
    for (const one of names(30))
      reserve(line, one, t0 + 7 * Number(one.slice(1)), {
        requestsPerMinute: 100,
        requestsAtOnce: 9,
      })
    const planned = plannedStarts(line)
    const next = [...planned].slice(0, 3)
    settle(line, 'unknown', (next.at(-1)?.[1] ?? 0) + 1)
    for (const [attempt, at] of next) expect(line.running.get(attempt)?.at).toBe(at)
  })

  it('keeps no more waiting requests than its limit, and counts a repeated record once', () => {
    const line = emptyLine()
    reserve(line, 'first', t0, { requestsAtOnce: 1 })
    reserve(line, 'first', t0, { requestsAtOnce: 1 })
    reserve(line, 'again', t0, { requestsAtOnce: 1 })
    reserve(line, 'again', t0, { requestsAtOnce: 1 })
    expect([line.running.size, line.waiting.size]).toEqual([1, 1])
    const waiting = { request: '', tag: 0, since: t0, expiresAt: t0 * 2 }
    for (const one of names(limits.slotsWaitingMax)) line.waiting.set(one, waiting)
    reserve(line, 'beyond', t0, { requestsAtOnce: 1 })
    expect(line.waiting.has('beyond')).toBe(false)
  })

  it('gives another tenant the place of the last request when one tenant has filled the line', () => {
    const line = emptyLine()
    reserve(line, 'first', t0, { requestsAtOnce: 1 })
    const waiting = { request: '', since: t0, expiresAt: t0 * 2 }
    for (const [n, one] of names(limits.slotsWaitingMax).entries())
      line.waiting.set(one, { ...waiting, tag: n + 2 })
    line.tags.set('acme', limits.slotsWaitingMax + 2)
    reserve(line, 'own', t0, { requestsAtOnce: 1 })
    reserve(line, 'other', t0, { requestsAtOnce: 1, tenant: 'globex' })
    expect(line.waiting.has('own')).toBe(false)
    expect([...line.waiting.keys()].slice(0, 2)).toEqual(['r0', 'other'])
    expect(line.waiting.size).toBe(limits.slotsWaitingMax)
    expect(line.waiting.has(`r${limits.slotsWaitingMax - 1}`)).toBe(false)
  })

  it('is idle after the lease of a request whose end nobody wrote', () => {
    const line = emptyLine()
    reserve(line, 'lost', t0, { requestsAtOnce: 1 })
    expect(isIdle(line, t0 + limits.slotLeaseMs - 1)).toBe(false)
    expect(isIdle(line, t0 + limits.slotLeaseMs)).toBe(true)
  })
})
