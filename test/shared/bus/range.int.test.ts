import { afterEach, beforeEach, describe, expect, it } from '@jest/globals'
import { openEmbeddedBus } from '../../../shared/bus/embedded/bus.ts'
import { batchesOf, firstOffsetSince } from '../../../shared/bus/range.ts'
import type { Bus } from '../../../shared/contract/bus.ts'
import { systemClock } from '../../../shared/lib/clock.ts'

let bus: Bus
let now = 0
beforeEach(async () => {
  bus = await openEmbeddedBus({ file: ':memory:', clock: { ...systemClock, now: () => now } })
  await bus.ensureTopics([{ name: 't', kind: 'log', partitions: 1 }])
})
afterEach(() => bus.close())

async function write(...sizes: number[]): Promise<void> {
  for (const size of sizes) {
    now += 10
    await bus.append([{ topic: 't', partition: 0, key: 'k', value: new Uint8Array(size) }])
  }
}

const range = (from: number, to: number) => ({ topic: 't', partition: 0, from, to })

describe('a stretch of a log', () => {
  it('comes in order, from its first record to the one before its end', async () => {
    await write(...Array.from({ length: 40 }, () => 1))
    const offsets: number[] = []
    for await (const batch of batchesOf(bus, range(3, 37)))
      offsets.push(...batch.map(({ offset }) => offset))
    expect(offsets).toEqual(Array.from({ length: 34 }, (_, i) => i + 3))
  })

  it('is held in batches that are bounded by their bytes', async () => {
    const MiB = 1024 * 1024
    await write(3 * MiB, 3 * MiB, 3 * MiB, 9 * MiB, 1)
    const sizes: number[] = []
    for await (const batch of batchesOf(bus, range(0, 5))) sizes.push(batch.length)
    expect(sizes).toEqual([2, 2, 1])
  })

  it('ends at the last record, and on abort', async () => {
    await write(1, 1)
    const offsets: number[] = []
    for await (const batch of batchesOf(bus, range(0, 100)))
      offsets.push(...batch.map(({ offset }) => offset))
    expect(offsets).toEqual([0, 1])
    for await (const _ of batchesOf(bus, range(0, 2), AbortSignal.abort()))
      throw new Error('it was aborted')
  })

  it('has a first record for each time', async () => {
    now = 0
    await write(1, 1, 1, 1, 1) // at 10, 20, 30, 40, 50
    const at = (time: number) => firstOffsetSince(bus, range(0, 5), time)
    expect(await Promise.all([0, 10, 11, 30, 50, 51].map(at))).toEqual([0, 0, 1, 2, 4, 5])
  })
})
