import { describe, expect, it } from '@jest/globals'
import { createLagReader } from '../../../../apps/service/metrics/lag.ts'
import { createReadPartitions } from '../../../../apps/service/read-partitions.ts'
import { fakeClock } from '../../../../client/testing/fake-clock.ts'
import type { PartitionEnds } from '../../../../shared/contract/bus.ts'

const minute = 60_000

function world() {
  const clock = fakeClock(100 * minute)
  const partitions = createReadPartitions(clock)
  const about = {
    stage: 'validator' as const,
    topic: 'inbox',
    from: 0,
    done: 0,
    end: 0,
    units: new Map(),
    hasCaughtUp: () => true,
  }
  let end = 0
  let asked = 0
  let answer = async (): Promise<PartitionEnds[]> => [{ partition: 0, begin: 0, end }]
  const ends = () => {
    asked += 1
    return answer()
  }
  return {
    clock,
    read: partitions.add({ ...about, partition: 0 }),
    partitions,
    lags: createLagReader({ bus: { ends }, clock, partitions }),
    /** The number of requests to the bus. */
    asked: () => asked,
    append: (count: number) => {
      end += count
    },
    answersWith: (given: typeof answer) => {
      answer = given
    },
  }
}

describe('the lag of a partition', () => {
  it('is zero if all records are read', async () => {
    const { lags, read, append } = world()
    append(3)
    read.position = 3
    expect(await lags()).toEqual([{ stage: 'validator', partition: 0, records: 0, seconds: 0 }])
  })

  it('counts unread records and the seconds since the newest read record', async () => {
    const { clock, lags, read, append } = world()
    append(10)
    read.position = 4
    read.newestTime = clock.now() - 2 * minute
    expect(await lags()).toEqual([{ stage: 'validator', partition: 0, records: 6, seconds: 120 }])
  })

  it('counts from the assignment if nothing was read since', async () => {
    const { clock, lags, append } = world()
    append(1)
    clock.advance(7_000)
    expect(await lags()).toMatchObject([{ records: 1, seconds: 7 }])
  })

  it('does not count a quiet hour before a record as its wait', async () => {
    const { clock, lags, read, append } = world()
    append(1)
    read.position = 1
    read.newestTime = clock.now()
    clock.advance(60 * minute)
    expect(await lags()).toMatchObject([{ records: 0, seconds: 0 }])
    append(1)
    clock.advance(10_000)
    expect(await lags()).toMatchObject([{ records: 1, seconds: 10 }])
  })

  it('is never negative, for any clocks of bus and machine', async () => {
    const { clock, lags, read, append } = world()
    append(2)
    read.position = 1
    read.newestTime = clock.now() + minute
    expect(await lags()).toMatchObject([{ records: 1, seconds: 0 }])
    read.position = 5
    expect(await lags()).toMatchObject([{ records: 0, seconds: 0 }])
  })

  it('reads the ends of a topic once for all partitions, and again after five seconds', async () => {
    const { clock, lags, partitions, read, asked } = world()
    partitions.add({ ...read, partition: 1 })
    await Promise.all([lags(), lags()])
    clock.advance(4_999)
    await lags()
    expect(asked()).toBe(1)
    clock.advance(1)
    await lags()
    expect(asked()).toBe(2)
  })

  it('is missing while the bus fails or does not answer', async () => {
    const { clock, lags, answersWith } = world()
    answersWith(() => Promise.reject(new Error('no broker')))
    expect(await lags()).toEqual([])
    clock.advance(5_000)
    answersWith(() => new Promise(() => {}))
    const waiting = lags()
    clock.advance(2_000)
    expect(await waiting).toEqual([])
    clock.advance(5_000)
    answersWith(async () => [{ partition: 0, begin: 0, end: 8 }])
    expect(await lags()).toMatchObject([{ records: 8 }])
  })

  it('ends with the assignment', async () => {
    const { lags, partitions, read } = world()
    partitions.remove(read)
    expect(await lags()).toEqual([])
  })
})
