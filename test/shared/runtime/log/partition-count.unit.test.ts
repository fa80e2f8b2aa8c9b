// The stored partition count, on a log in memory.

import { describe, expect, it } from '@jest/globals'
import { decode, encode, knownSchemas, ownFormat } from '../../../../shared/codec/codec.ts'
import type { RecordToAppend, StoredRecord } from '../../../../shared/contract/bus.ts'
import type { Message } from '../../../../shared/contract/messages.ts'
import { partitionOf } from '../../../../shared/contract/partition.ts'
import { systemClock } from '../../../../shared/lib/clock.ts'
import { WeirError } from '../../../../shared/lib/errors.ts'
import { version } from '../../../../shared/lib/version.ts'
import {
  assertPartitionCount,
  storedPartitionCount,
  storePartitionCount,
} from '../../../../shared/runtime/log/partition-count.ts'
import { cancel } from '../../../support/messages.ts'

/** A log with `keys` written by clients that knew `written` partitions, and now with `now`. */
function log(
  written: number,
  now: number,
  conversations: number,
  {
    stored,
    setting,
    value = null,
    audit = [],
  }: { stored?: Message; setting?: Message; value?: Buffer | null; audit?: Message[] } = {},
) {
  const appended: RecordToAppend[] = []
  const keys = Array.from({ length: conversations }, (_, n) => `c${n}`)
  const inPartition = (partition: number) =>
    keys.filter((key) => partitionOf(key as never, written) === partition)
  return {
    appended,
    clock: systemClock,
    async list(): Promise<StoredRecord[]> {
      if (stored === undefined) return []
      const key = 'partition-count'
      return [{ topic: '', partition: 0, key, value: encode(stored), offset: 0, time: 0 }]
    },
    ends: async (topic: string) =>
      topic === 'w.audit'
        ? [{ partition: 0, begin: 0, end: audit.length }]
        : Array.from({ length: now }, (_, partition) => ({
            partition,
            begin: 0,
            end: inPartition(partition).length,
          })),
    read: async ({
      topic,
      partition,
      from = 0,
      limit,
    }: {
      topic: string
      partition: number
      from?: number
      limit: number
    }) => {
      if (topic === 'w.audit')
        return audit
          .map((message, offset) => ({ offset, value: encode(message) }))
          .slice(from, from + limit)
          .map((record) => ({ topic, partition, key: '', time: 0, ...record }))
      const ofSetting = setting === undefined ? null : encode(setting)
      return topic === 'w.policies'
        ? [{ topic, partition, key: 'stop:all', value: ofSetting, offset: 0, time: 0 }]
        : inPartition(partition)
            .slice(0, limit)
            .map((key, offset) => ({ topic, partition, key, value, offset, time: 0 }))
    },
    async append(records: RecordToAppend[]) {
      appended.push(...records)
      return []
    },
  }
}

/** The evidence of a change. */
function changed(setting: string, isRemoved = false): Message {
  const content = { before: '', after: isRemoved ? '' : '{}', link: null }
  const author = { at: 0, by: 'anna', identity: 'claimed' } as const
  return { type: 'audit-changed', setting, isRemoved, ...author, ...content }
}

describe('the partition count of a log without a record', () => {
  it.each([
    ['is empty', 4, 4, 0],
    ['has one conversation', 4, 4, 1],
    ['has many', 6, 6, 500],
    ['has one partition', 1, 1, 10],
  ])('is stored if the log %s', async (_, written, now, conversations) => {
    const bus = log(written, now, conversations)
    expect(await storePartitionCount(bus, 'w.', now)).toBe(true)
    expect(bus.appended[0]).toMatchObject({
      topic: 'w.policies',
      partition: 0,
      key: 'partition-count',
    })
  })

  it('is stored with the newest format if the log has no record, because no older process has read it', async () => {
    const bus = log(4, 4, 0)
    await storePartitionCount(bus, 'w.', 4)
    const [fleet] = bus.appended.slice(-1)
    expect(bus.appended.map(({ key }) => key)).toEqual([
      'partition-count',
      ...Array.from({ length: ownFormat - 1 }, (_, at) => `format:${at + 2}`),
      'fleet-format',
    ])
    expect(decode(fleet?.value as Uint8Array)).toMatchObject({ format: ownFormat, isPinned: false })
  })

  it('is refused while a process from before record format 1 runs, with the way to upgrade', async () => {
    const bus = log(4, 4, 5)
    const member = {
      group: 'w.validator',
      host: '10.0.0.7',
      process: 'kafkajs-1',
      weir: undefined,
      format: 1,
      agents: undefined,
    }
    await expect(storePartitionCount(bus, 'w.', 4, async () => [member])).rejects.toMatchObject({
      code: 'fleet.apart',
      message: expect.stringMatching(
        /kafkajs-1 at 10\.0\.0\.7.*older than record format 1.*stop the whole fleet/,
      ),
    })
    expect(bus.appended).toEqual([])
  })

  it('is stored while a process of this version runs, because the process announces its version', async () => {
    const bus = log(4, 4, 5)
    const member = {
      group: 'w.validator',
      host: '10.0.0.7',
      process: 'host-1/7',
      weir: version(),
      format: ownFormat,
      agents: undefined,
    }
    expect(await storePartitionCount(bus, 'w.', 4, async () => [member])).toBe(true)
  })

  it('is refused if policies is empty and audit has a setting that nobody removed', async () => {
    const audit = [changed('stop:all'), changed('guard:bank'), changed('stop:all', true)]
    const recreated = log(4, 4, 10, { audit })
    await expect(storePartitionCount(recreated, 'w.', 4)).rejects.toMatchObject({
      code: 'bus.topic-recreated',
      message: expect.stringMatching(/w\.policies is empty.*setting guard:bank.*weir reset --all/),
    })
    expect(recreated.appended).toEqual([])
    const setting = cancel() as Message
    expect(await storePartitionCount(log(4, 4, 10, { audit, setting }), 'w.', 4)).toBe(true)
  })

  it.each([
    ['never set anything', []],
    ['removed each setting', [changed('guard:bank'), changed('guard:bank', true)]],
    ['set nothing in policies', [changed('key:k1'), changed('title:c1'), cancel() as Message]],
  ])('is stored in a log of this version whose operators %s', async (_, audit) => {
    const value = encode({ type: 'partition-count', partitions: 4 })
    value.writeInt32BE(knownSchemas.at(-1)?.id ?? 0, 1)
    expect(await storePartitionCount(log(4, 4, 10, { value, audit }), 'w.', 4)).toBe(true)
  })

  it.each([
    [4, 6],
    [4, 5],
    [2, 3],
    [6, 7],
    [1, 4],
  ])('is not stored if the topics grew from %p to %p', async (written, now) => {
    const bus = log(written, now, 200)
    await expect(storePartitionCount(bus, 'w.', now)).rejects.toMatchObject({
      code: 'bus.topic-differs',
    })
    expect(bus.appended).toEqual([])
  })
})

describe('the stored partition count', () => {
  it('is not written again', async () => {
    const bus = log(4, 4, 10, { stored: { type: 'partition-count', partitions: 4 } })
    expect(await storePartitionCount(bus, 'w.', 4)).toBe(false)
    expect(bus.appended).toEqual([])
  })

  it.each<[string, Message]>([
    ['is another record', cancel()],
    ['is zero', { type: 'partition-count', partitions: 0 }],
  ])('that %s is refused', async (_, stored) => {
    await expect(storedPartitionCount(log(4, 4, 0, { stored }), 'w.')).rejects.toMatchObject({
      code: 'bus.topic-differs',
    })
  })

  it.each(['bus.topic-missing', 'bus.unauthorized'] as const)(
    'is unknown if the table cannot be read: %s',
    async (code) => {
      const list = () => Promise.reject(new WeirError(code, 'no'))
      expect(await storedPartitionCount({ list }, 'w.')).toBeUndefined()
    },
  )

  it('is not unknown if the broker is away', async () => {
    const list = () => Promise.reject(new WeirError('bus.unreachable', 'no'))
    await expect(storedPartitionCount({ list }, 'w.')).rejects.toMatchObject({
      code: 'bus.unreachable',
    })
  })

  it('refuses topics with another count, and names both', () => {
    expect(() => assertPartitionCount('w.history', 6, 4)).toThrow(
      /w\.history has 6 partitions, and this log began with 4/,
    )
    expect(() => assertPartitionCount('w.history', 4, 4)).not.toThrow()
    expect(() => assertPartitionCount('w.history', 4, undefined)).not.toThrow()
  })
})
