// Model requests of two gateways to one provider's account, on one log and on a clock that the test moves.

import { afterEach, describe, expect, it } from '@jest/globals'
import { fakeClock } from '../../../../client/testing/fake-clock.ts'
import { openEmbeddedBus } from '../../../../shared/bus/embedded/bus.ts'
import { hold } from '../../../../shared/codec/codec.ts'
import { messageOf } from '../../../../shared/codec/message-of.ts'
import type { ModelLimits } from '../../../../shared/contract/messages.ts'
import { createLog } from '../../../../shared/lib/log/log.ts'
import type { Slot, SlotWait } from '../../../../shared/runtime/budgets/account-lines.ts'
import { budgetLog } from '../../../../shared/runtime/budgets/budget-log.ts'
import { createBudgetReaders } from '../../../../shared/runtime/budgets/budget-readers.ts'
import { noModelLimits } from '../../../../shared/runtime/budgets/request-line.ts'

const log = createLog({ level: 'silent' })
const account = { server: 'https://api.example', key: 'secret-key', model: 'm' }
const never = new AbortController().signal
const refused = { tokens: null, refusedBy: 'limit' as const, waitMs: 60_000 }
const answered = { tokens: 100, refusedBy: null, waitMs: 0 }

let closing: (() => unknown)[] = []
afterEach(async () => {
  for (const close of closing.reverse()) await close()
  closing = []
})

async function world() {
  const clock = fakeClock('2026-11-30T12:00:00Z')
  const bus = await openEmbeddedBus({ file: ':memory:', clock })
  closing.push(() => bus.close())
  await bus.ensureTopics([{ name: 'budgets', kind: 'log', partitions: 4 }])
  const started: { attempt: string; at: number; slot: Slot }[] = []
  const waits = new Map<string, SlotWait>()

  function gateway() {
    const { lines, join } = createBudgetReaders()
    const member = join()
    closing.push(() => member.leave())
    const whole = budgetLog({ bus, topicPrefix: '', log })
    let isBroken = false
    async function* follow(of: Parameters<typeof whole.follow>[0]) {
      for await (const records of whole.follow(of))
        for (const record of records) {
          yield [record]
          if (!isBroken) continue
          isBroken = false
          throw new Error('the broker is away')
        }
    }
    let isKilled = false
    const append: typeof whole.append = (key, message) =>
      isKilled ? Promise.reject(new Error('the process is gone')) : whole.append(key, message)
    const context = { budgets: { ...whole, append, follow }, clock, log }
    return {
      /** It writes nothing more: neither renewals nor ends. */
      kill() {
        isKilled = true
      },

      /** Its reads, one record each, fail once after the next record. */
      breakReads() {
        isBroken = true
      },

      async request(
        attempt: string,
        {
          limits,
          stop = never,
          round,
        }: { limits?: Partial<ModelLimits>; stop?: AbortSignal; round?: string } = {},
      ): Promise<Slot | undefined> {
        const expiresAt = clock.now() + 3_600_000
        const slot = await lines.slot(
          context,
          {
            account,
            tenant: 'acme',
            share: 1,
            attempt,
            ...(round !== undefined && { request: round }),
            expiresAt,
            limits: limits && { ...noModelLimits, ...limits },
          },
          { stop, onWait: (wait) => waits.set(attempt, wait) },
        )
        if (slot !== undefined) started.push({ attempt, at: clock.now(), slot })
        return slot
      },
    }
  }

  /** Lets all reads and writes of the log happen. */
  async function settled() {
    for (let turn = 0; turn < 30; turn += 1) await new Promise((resolve) => setImmediate(resolve))
  }

  async function pass(ms: number, stepMs = 250) {
    for (let left = ms; left > 0; left -= stepMs) {
      clock.advance(Math.min(stepMs, left))
      await settled()
    }
  }

  async function records() {
    const ends = await bus.ends('budgets')
    const all = await Promise.all(
      ends.map(({ partition, begin, end }) =>
        bus.read({ topic: 'budgets', partition, from: begin, to: end, limit: 1000, bytesMax: 1e6 }),
      ),
    )
    return all.flat()
  }

  return { clock, gateway, started, waits, settled, pass, records }
}

describe('the line of a provider account', () => {
  it('writes nothing while no limit is configured and the provider refuses nothing', async () => {
    const { gateway, records, settled } = await world()
    const one = gateway()
    for (const attempt of ['a', 'b']) await (await one.request(attempt))?.settle(answered)
    await settled()
    expect(await records()).toEqual([])
  })

  it('holds the requests of all gateways after a refusal, and starts them one after the other', async () => {
    const { clock, gateway, started, waits, settled, pass } = await world()
    const [one, two] = [gateway(), gateway()]
    await two.request('before')
    await (await one.request('refused'))?.settle(refused)
    await settled()
    started.length = 0
    const from = clock.now()
    for (let n = 0; n < 20; n += 1) void (n % 2 === 0 ? one : two).request(`r${n}`)
    await pass(59_000)
    expect(started).toEqual([])
    expect(waits.get('r1')).toMatchObject({ reason: 'closed', ahead: 1 })
    await pass(120_000)
    const times = started.map(({ at }) => at - from)
    expect(times).toHaveLength(20)
    expect(times[0]).toBeGreaterThanOrEqual(60_000)
    expect(new Set(times).size).toBe(20)
  })

  it('holds limits for all gateways together, and names no key on the topic', async () => {
    const { gateway, started, pass, records } = await world()
    const gateways = [gateway(), gateway()] as const
    const limits = { requestsAtOnce: 3 }
    for (let n = 0; n < 8; n += 1) void gateways[n % 2 === 0 ? 0 : 1].request(`r${n}`, { limits })
    await pass(1000)
    expect(started.map(({ attempt }) => attempt).sort()).toEqual(['r0', 'r1', 'r2'])
    for (const { slot } of [...started]) await slot.settle(answered)
    await pass(1000)
    expect(started).toHaveLength(6)
    const all = await records()
    expect(all.length).toBeGreaterThan(8)
    expect(JSON.stringify(all.map(({ key, value }) => [key, messageOf(value)]))).not.toMatch(
      /secret-key|api\.example/,
    )
  })

  it('gives the turn of a stopped request to the next one', async () => {
    const { gateway, started, pass } = await world()
    const one = gateway()
    const limits = { requestsAtOnce: 1 }
    const stop = new AbortController()
    void one.request('r0', { limits })
    await pass(250)
    const left = one.request('r1', { limits, stop: stop.signal })
    await pass(250)
    void one.request('r2', { limits })
    await pass(250)
    stop.abort()
    expect(await left).toBeUndefined()
    await started[0]?.slot.settle(answered)
    await pass(250)
    expect(started.map(({ attempt }) => attempt)).toEqual(['r0', 'r2'])
  })

  it('answers at a steady rate while gateways are killed again and again', async () => {
    const { gateway, started, pass, settled } = await world()
    const limits = { requestsAtOnce: 4 }
    const rounds = Array.from({ length: 4 }, (_, n) => `round ${n}`)
    for (let kill = 0; kill < 20; kill += 1) {
      const next = gateway()
      for (const round of rounds) void next.request(`${round}, ${kill}`, { limits, round })
      await settled()
      next.kill()
      await pass(3000, 1000)
    }
    expect(started).toHaveLength(20 * rounds.length)
  })

  it('starts no request of a gateway whose round has a newer attempt, until that attempt has ended', async () => {
    const { gateway, started, pass } = await world()
    const [one, paused, next] = [gateway(), gateway(), gateway()]
    const limits = { requestsAtOnce: 1 }
    void one.request('r0', { limits })
    await pass(250)
    void paused.request('r1', { limits, round: 'round' })
    await pass(250)
    void next.request('r1 again', { limits, round: 'round' })
    await pass(250)
    await started[0]?.slot.settle(answered)
    await pass(90_000, 1000)
    expect(started.map(({ attempt }) => attempt)).toEqual(['r0', 'r1 again'])
    await started[1]?.slot.settle(answered)
    await pass(1000)
    expect(started.map(({ attempt, slot }) => [attempt, slot.isRefused]).slice(2)).toEqual([
      ['r1', undefined],
    ])
  })

  it('holds the place of a request that runs for minutes, and frees that of a killed proxy', async () => {
    const { gateway, started, pass } = await world()
    const [one, killed] = [gateway(), gateway()]
    const limits = { requestsAtOnce: 2 }
    void one.request('long', { limits })
    await pass(250)
    void killed.request('lost', { limits })
    await pass(250)
    killed.kill()
    void one.request('waits', { limits })
    void one.request('waits longer', { limits })
    await pass(300_000, 1000)
    expect(started.map(({ attempt }) => attempt)).toEqual(['long', 'lost', 'waits'])
  })

  it('holds limits also while an agent without limits waits in the same line', async () => {
    const { gateway, started, settled } = await world()
    const [one, two] = [gateway(), gateway()]
    for (let n = 0; n < 4; n += 1) void one.request(`r${n}`, { limits: { requestsAtOnce: 1 } })
    await settled()
    void two.request('before')
    await settled()
    void two.request('unlimited')
    await settled()
    expect(started.map(({ attempt }) => attempt)).toEqual(['r0', 'before'])
  })

  it('lets a waiting request wait while a process reads its line again after an error', async () => {
    const { gateway, started, pass, settled } = await world()
    const one = gateway()
    const limits = { requestsAtOnce: 1 }
    void one.request('r0', { limits })
    await settled()
    void one.request('r1', { limits })
    await settled()
    one.breakReads()
    void one.request('r2', { limits })
    await pass(120_000, 1000)
    expect(started.map(({ attempt }) => attempt)).toEqual(['r0'])
    await started[0]?.slot.settle(answered)
    await pass(1000)
    expect(started.map(({ attempt, slot }) => [attempt, slot.isRefused])).toEqual([
      ['r0', undefined],
      ['r1', undefined],
    ])
  })

  it('starts no request by the older part of its line while a process reads the line again', async () => {
    const { gateway, started, pass, settled } = await world()
    const [one, two] = [gateway(), gateway()]
    const late = await two.request('late')
    await (await two.request('refused'))?.settle(refused)
    await one.request('joins')
    await settled()
    started.length = 0
    void one.request('waits')
    await pass(55_000, 1000)
    await late?.settle(refused)
    await pass(20_000, 1000)
    one.breakReads()
    void one.request('next')
    await pass(35_000, 1000)
    expect(started).toEqual([])
    await pass(30_000, 1000)
    expect(started.map(({ attempt, slot }) => [attempt, slot.isRefused])).toEqual([
      ['waits', undefined],
      ['next', undefined],
    ])
  })

  it('holds nothing while an older Weir of the fleet cannot read its records', async () => {
    const { gateway, started, pass, records } = await world()
    const holder = {}
    hold(holder, 1)
    closing.push(() => hold(holder, undefined))
    for (const attempt of ['a', 'b', 'c'])
      void gateway().request(attempt, { limits: { requestsAtOnce: 1 } })
    await pass(250)
    expect(started).toHaveLength(3)
    expect(await records()).toEqual([])
  })
})
