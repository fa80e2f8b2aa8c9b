// Followers of one key on the embedded bus: shared reading, slow followers, and the log's end.

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals'
import { createFollowKey, followedRecordsMax } from '../../../client/edge/followed-key.ts'
import { openEmbeddedBus } from '../../../shared/bus/embedded/bus.ts'
import type { Bus } from '../../../shared/contract/bus.ts'
import { systemClock } from '../../../shared/lib/clock.ts'
import { until } from '../../support/inbox.ts'

let folder = ''
let bus: Bus

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'weir-follow-'))
  bus = await openEmbeddedBus({ file: join(folder, 'log.db'), clock: systemClock })
  await bus.ensureTopics([{ name: 'log', kind: 'log', partitions: 1, retentionMs: 1e12 }])
})
afterEach(async () => {
  await bus.close()
  rmSync(folder, { recursive: true, force: true })
})

const append = (...records: [key: string, text: string][]) =>
  bus.append(
    records.map(([key, text]) => ({ topic: 'log', partition: 0, key, value: Buffer.from(text) })),
  )

const range = (key: string, from = 0) => ({
  topic: 'log',
  partition: 0,
  key,
  from,
  signal: new AbortController().signal,
})

/** The texts of the next records, this many. */
async function texts(
  batches: AsyncIterator<{ value: Uint8Array | null }[], void>,
  count: number,
): Promise<string[]> {
  const found: string[] = []
  while (found.length < count) {
    const { value } = await batches.next()
    for (const record of value ?? []) found.push(Buffer.from(record.value ?? []).toString())
  }
  return found
}

describe('a follower of a key', () => {
  it('gets the records of its key that the log has, and then those that arrive', async () => {
    await append(['a', '1'], ['b', 'x'], ['a', '2'])
    const follow = createFollowKey(bus)
    const all = follow(range('a'))
    expect(await texts(all, 2)).toEqual(['1', '2'])
    await append(['b', 'y'], ['a', '3'])
    expect(await texts(all, 1)).toEqual(['3'])
    expect(await texts(follow(range('a', 2)), 2)).toEqual(['2', '3'])
  })

  it('begins at an offset that the log does not have yet', async () => {
    const follower = createFollowKey(bus)(range('a', 2))
    const read = texts(follower, 1)
    await append(['a', '1'])
    await append(['a', '2'], ['a', '3'])
    expect(await read).toEqual(['3'])
  })

  it('that is slow gets each record once and in order, and keeps few of them', async () => {
    const follow = createFollowKey(bus)
    const slow = follow(range('a'))
    const quick = follow(range('a'))
    const count = followedRecordsMax * 5
    const numbers = Array.from({ length: count }, (_, n) => `${n}`)
    await append(['a', 'first'])
    expect(await texts(slow, 1)).toEqual(['first'])
    expect(await texts(quick, 1)).toEqual(['first'])
    for (const number of numbers) await append(['a', number])
    expect(await texts(quick, count)).toEqual(numbers)
    const { value: kept } = await slow.next()
    expect(kept?.length).toBe(followedRecordsMax)
    expect(await texts(slow, count - followedRecordsMax)).toEqual(numbers.slice(followedRecordsMax))
    await append(['a', 'last'])
    expect(await texts(slow, 1)).toEqual(['last'])
  })

  it('shares one reader with all others, which ends with the last of them', async () => {
    let readers = 0
    const counted: Pick<Bus, 'ends' | 'read' | 'follow'> = {
      ends: (topic) => bus.ends(topic),
      read: (part) => bus.read(part),
      async *follow(part) {
        readers += 1
        try {
          yield* bus.follow(part)
        } finally {
          readers -= 1
        }
      },
    }
    const follow = createFollowKey(counted)
    const followers = Array.from({ length: 100 }, (_, n) => follow(range(`k${n}`)))
    const firsts = followers.map((follower) => texts(follower, 1))
    await append(...followers.map((_, n): [string, string] => [`k${n}`, `${n}`]))
    expect((await Promise.all(firsts)).flat()).toEqual(followers.map((_, n) => `${n}`))
    expect(readers).toBe(1)
    for (const follower of followers) await follower.return()
    await append(['k1', 'wakes it'])
    await until(() => readers === 0)
    const again = follow(range('k1', 100))
    expect(await texts(again, 1)).toEqual(['wakes it'])
  })

  it('ends with its signal, and fails when the log is closed', async () => {
    const follow = createFollowKey(bus)
    const stop = new AbortController()
    const ending = follow({ ...range('a'), signal: stop.signal }).next()
    const failing = follow(range('a')).next()
    await append(['b', 'x'])
    stop.abort()
    expect((await ending).done).toBe(true)
    await bus.close()
    await expect(failing).rejects.toMatchObject({ code: 'bus.closed' })
  })
})
