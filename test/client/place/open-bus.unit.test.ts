// A service asks a broker that is just starting for the ends of a topic.

import { describe, expect, it } from '@jest/globals'
import type { Logger } from 'pino'
import {
  endsOnceAnswered,
  keepPartitionCount,
  partitionCount,
} from '../../../client/place/open-bus.ts'
import { onceAnswered, startRefusedMs } from '../../../shared/bus/once-answered.ts'
import type { PartitionEnds, RecordToAppend } from '../../../shared/contract/bus.ts'
import type { Clock } from '../../../shared/lib/clock.ts'
import { WeirError } from '../../../shared/lib/errors.ts'

const known: PartitionEnds[] = [{ partition: 0, begin: 0, end: 7 }]

/** A clock that ends every wait at once, and moves by its length. */
function quickClock(): Clock {
  let now = 0
  return {
    now: () => now,
    monotonic: () => now,
    after(ms, done) {
      now += ms
      queueMicrotask(done)
      return () => {}
    },
  } as Clock
}

/** A bus whose requests fail with the error of `failure` until that is undefined. */
function busThat(failure: (time: number) => WeirError | undefined) {
  const clock = quickClock()
  const ends = async () => {
    const error = failure(clock.monotonic())
    if (error !== undefined) throw error
    return known
  }
  return { clock, ends }
}

const away = new WeirError('bus.unreachable', 'no broker answers', { retryable: true })
const leaderless = new WeirError('bus.refused', 'there is no leader', { retryable: true })

describe('the number of partitions', () => {
  it('is read from the log although a broker goes away between two requests of a start', async () => {
    const { clock, ends } = busThat(() => undefined)
    let lists = 0
    const list = async () => {
      lists += 1
      if (lists <= 2) throw away
      return []
    }
    expect(await partitionCount({ clock, ends, list }, 'weir.')).toBe(1)
    expect(lists).toBe(3)
  })
})

describe('the ends of a topic', () => {
  it('are retried while the broker leads no partition yet', async () => {
    expect(
      await endsOnceAnswered(
        busThat((time) => (time < 40_000 ? leaderless : undefined)),
        'a',
      ),
    ).toBe(known)
  })

  it('are retried for a bounded time', async () => {
    await expect(
      endsOnceAnswered(
        busThat(() => leaderless),
        'a',
      ),
    ).rejects.toBe(leaderless)
  })

  it('are not retried after an error that is not retryable', async () => {
    const missing = new WeirError('bus.topic-missing', 'there is no topic a')
    await expect(
      endsOnceAnswered(
        busThat((time) => (time === 0 ? missing : undefined)),
        'a',
      ),
    ).rejects.toBe(missing)
  })
})

describe('the partition count of a log that has none', () => {
  it('is kept although a broker that is away for half a minute lets the first reads fail', async () => {
    const appended: RecordToAppend[] = []
    const bus = {
      ...busThat((time) => (time < 30_000 ? away : undefined)),
      list: async () => [],
      read: async () => [],
      append: async (records: RecordToAppend[]) => {
        appended.push(...records)
        return []
      },
    }
    const log = { info: () => {}, warn: () => {} } as unknown as Logger
    await keepPartitionCount({ bus, topicPrefix: 'weir.', partitions: 1, log })
    expect(appended[0]).toMatchObject({ topic: 'weir.policies', key: 'partition-count' })
  })

  it('is kept although each kind of request meets an outage of 70 seconds', async () => {
    const clock = quickClock()
    const firstAsked = new Map<string, number>()
    const duringOutage = <Value>(name: string, value: Value) => {
      const since = firstAsked.get(name) ?? clock.monotonic()
      firstAsked.set(name, since)
      if (clock.monotonic() - since < 70_000) throw away
      return value
    }
    const appended: string[] = []
    const bus = {
      clock,
      list: async () => duringOutage('list', []),
      ends: async () => duringOutage('ends', known),
      read: async () => duringOutage('read', []),
      append: async (records: RecordToAppend[]) => {
        appended.push(...duringOutage('append', records).map(({ key }) => key))
        return []
      },
    }
    const warnings: string[] = []
    const log = { info: () => {}, warn: (_: object, text: string) => warnings.push(text) }
    const parts = { topicPrefix: 'weir.', partitions: 1, log: log as unknown as Logger }
    await keepPartitionCount({ bus, ...parts })
    expect(appended).toContain('partition-count')
    expect(clock.monotonic()).toBe(4 * 70_000)
    // Each outage has two: at its begin, and a minute later.
    expect(warnings).toEqual(new Array(8).fill('the start waits for the brokers'))
  })

  it('is not waited for without a bound while the brokers refuse', async () => {
    const clock = quickClock()
    const log = { warn: () => {} } as unknown as Logger
    await expect(onceAnswered({ clock }, () => Promise.reject(leaderless), log)).rejects.toBe(
      leaderless,
    )
    expect(clock.monotonic()).toBe(startRefusedMs)
  })

  it('is not waited for longer than a minute by a user whose rights no broker confirms', async () => {
    const clock = quickClock()
    const unclear = new WeirError('bus.unauthorized', 'no coordinator', { retryable: true })
    const request = () => Promise.reject(unclear)
    const log = { warn: () => {} } as unknown as Logger
    await expect(onceAnswered({ clock }, request, log)).rejects.toBe(unclear)
    expect(clock.monotonic()).toBe(60_000)
  })

  it('is left to an operator by a user who may neither read audit nor write policies', async () => {
    const refuse = () => Promise.reject(new WeirError('bus.unauthorized', 'this user may not'))
    const bus = {
      clock: quickClock(),
      list: async () => [],
      ends: (topic: string) => (topic === 'weir.audit' ? refuse() : Promise.resolve(known)),
      read: async () => [],
      append: refuse,
    }
    const warnings: string[] = []
    const log = { warn: (_: object, text: string) => warnings.push(text) } as unknown as Logger
    await keepPartitionCount({ bus, topicPrefix: 'weir.', partitions: 1, log })
    expect(warnings).toEqual([expect.stringMatching('weir topics create')])
  })
})
