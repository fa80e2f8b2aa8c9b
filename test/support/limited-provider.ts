// 200 conversations of two gateways, and a provider that accepts 20 requests in any minute. The lines of both
// gateways work on one embedded log and on a clock that moves by itself, so an hour takes seconds.

import { fakeClock } from '../../client/testing/fake-clock.ts'
import { openEmbeddedBus } from '../../shared/bus/embedded/bus.ts'
import type { ModelLimits } from '../../shared/contract/messages.ts'
import { createLog } from '../../shared/lib/log/log.ts'
import type { Slot } from '../../shared/runtime/budgets/account-lines.ts'
import { budgetLog } from '../../shared/runtime/budgets/budget-log.ts'
import { createBudgetReaders } from '../../shared/runtime/budgets/budget-readers.ts'
import { noModelLimits } from '../../shared/runtime/budgets/request-line.ts'

const conversations = 200
const perMinute = 20
const stepMs = 500
const minuteMs = 60_000

/** `refusedFirst`: of the first minute. Without limits in the agent's file nobody knows them before. */
export type LimitsFigures = {
  accepted: number
  refused: number
  refusedFirst: number
  possible: number
}

/** A limit of the agent's file, the line without one, or waits of each conversation by itself. */
export type LimitsCase = 'limits' | 'learned' | 'alone'

export async function limitsFigures(how: LimitsCase, minutes: number): Promise<LimitsFigures> {
  const clock = fakeClock('2026-11-30T12:00:00Z')
  const bus = await openEmbeddedBus({ file: ':memory:', clock })
  await bus.ensureTopics([{ name: 'budgets', kind: 'log', partitions: 4 }])
  const log = createLog({ level: 'silent' })
  const begun = clock.now()
  const end = begun + minutes * minuteMs
  const figures = { accepted: 0, refused: 0, refusedFirst: 0, possible: perMinute * minutes }
  let starts: number[] = []

  /** The wait of a refused request. */
  function provider(): number | undefined {
    const now = clock.now()
    starts = starts.filter((at) => at > now - minuteMs)
    if (starts.length < perMinute) return void starts.push(now)
    return (starts[0] ?? now) + minuteMs - now
  }

  const gateways = [1, 2].map(() => {
    const { lines, join } = createBudgetReaders()
    return {
      lines,
      member: join(),
      context: { budgets: budgetLog({ bus, topicPrefix: '', log }), clock, log },
    }
  })
  const limits: ModelLimits | undefined =
    how === 'limits' ? { ...noModelLimits, requestsPerMinute: perMinute } : undefined
  const pass = (ms: number) => new Promise<void>((resolve) => clock.after(ms, resolve))

  async function slotOf(conversation: number, round: number): Promise<Slot | undefined> {
    const gateway = gateways[conversation % 2]
    if (gateway === undefined || how === 'alone') return undefined
    return gateway.lines.slot(
      gateway.context,
      {
        account: { server: 'https://api.example', key: 'key', model: 'm' },
        tenant: `tenant-${conversation % 5}`,
        share: 1,
        attempt: `${conversation}-${round}`,
        expiresAt: end + minuteMs,
        limits,
      },
      { stop: new AbortController().signal, onWait: () => {} },
    )
  }

  async function converse(conversation: number): Promise<void> {
    for (let round = 0; clock.now() < end; round += 1) {
      const slot = await slotOf(conversation, round)
      if (clock.now() >= end) return
      const waitMs = provider()
      if (waitMs === undefined) {
        figures.accepted += 1
        await pass(3000 + ((conversation * 131 + round * 37) % 8000)) // the answer
        await slot?.settle({ tokens: 1000, refusedBy: null, waitMs: 0 })
      } else {
        figures.refused += 1
        if (clock.now() < begun + minuteMs) figures.refusedFirst += 1
        await slot?.settle({ tokens: null, refusedBy: 'limit', waitMs })
        await pass(waitMs)
      }
    }
  }

  const all = Array.from({ length: conversations }, (_, n) => converse(n))
  const settled = () => new Promise((resolve) => setImmediate(resolve))
  for (let n = 0; n < 20; n += 1) await settled()
  while (clock.now() < end + minuteMs) {
    clock.advance(stepMs)
    for (let n = 0; n < 6; n += 1) await settled()
  }
  for (const { member } of gateways) member.leave()
  await bus.close()
  void all
  return figures
}

/** Of the requests that count for this case. */
export function refusedShare({ accepted, refused, refusedFirst }: LimitsFigures, how: LimitsCase) {
  const counted = how === 'learned' ? refused - refusedFirst : refused
  return counted / Math.max(1, accepted + counted)
}
