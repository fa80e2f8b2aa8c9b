// Keys of conversations over a log in memory: each bus below is another process on the same log.

import { afterEach, beforeEach, describe, expect, it } from '@jest/globals'
import { openEmbeddedBus } from '../../../../shared/bus/embedded/bus.ts'
import { encryptedBus } from '../../../../shared/bus/encryption/encrypted-bus.ts'
import { createEncryption } from '../../../../shared/bus/encryption/encryption.ts'
import { decode, encode, hold } from '../../../../shared/codec/codec.ts'
import { messageOf } from '../../../../shared/codec/message-of.ts'
import type { Bus, PartitionReader, StoredRecord } from '../../../../shared/contract/bus.ts'
import { topicSpecs } from '../../../../shared/contract/retention.ts'
import { systemClock } from '../../../../shared/lib/clock.ts'
import { toRecord } from '../../../../shared/runtime/record.ts'

const deployment = { name: 'k1', key: Buffer.alloc(32, 1) }
const rotated = { name: 'k2', key: Buffer.alloc(32, 2) }

let raw: Bus

beforeEach(async () => {
  raw = await openEmbeddedBus({ file: ':memory:', clock: systemClock })
  await raw.ensureTopics(topicSpecs('weir.', 1))
})
afterEach(() => raw.close())

/** Another process on the log, with these keys of the deployment. */
function processWith(...keys: (typeof deployment)[]): Bus {
  const ofAll = keys.length === 0 ? new Map() : new Map([['*', keys]])
  return encryptedBus(raw, createEncryption(ofAll, 'weir.'), 'weir.')
}

const inbox = { topic: 'weir.client-messages', partition: 0 }
const activity = { topic: 'weir.activity', partition: 0 }
const table = { topic: 'weir.conversation-keys', partition: 0 }

function cancelOf(conversation: string, messageId = 'm') {
  const message = { type: 'cancel-requested', conversation, messageId } as const
  return toRecord({ ...inbox, message })
}

/** A record as a stage writes it, in a topic that no client writes. */
function outputOf(conversation: string) {
  return { ...cancelOf(conversation), ...activity }
}

const all = async (bus: Bus, place = inbox): Promise<StoredRecord[]> =>
  bus.read({ ...place, from: 0, limit: 100 })
const ids = async (bus: Bus, place = inbox) =>
  (await all(bus, place)).map(({ value }) => {
    const message = messageOf(value)
    return message?.type === 'cancel-requested' ? message.messageId : undefined
  })
const keysOf = async (conversation: string) => raw.list({ ...table, prefix: `["${conversation}",` })

async function deleteKeys(conversation: string): Promise<void> {
  for (const { key } of await keysOf(conversation))
    await raw.append([{ ...table, key, value: null }])
}

/** Reads an inbox as a stage does, and resolves with its records, or rejects with its error. */
async function readAsStage(bus: Bus, count: number): Promise<StoredRecord[]> {
  const seen: StoredRecord[] = []
  const { promise, resolve } = Promise.withResolvers<void>()
  const reader: PartitionReader = {
    position: 0,
    async read(records) {
      seen.push(...records)
      if (seen.length >= count) resolve()
      return { outputs: [], commit: undefined }
    },
    acknowledged() {},
    async close() {},
  }
  const { topic } = inbox
  const subscription = await bus.subscribe({ group: 'g', topic, assign: async () => reader })
  try {
    await Promise.race([promise, subscription.failed])
  } finally {
    await subscription.close()
  }
  return seen
}

describe('the key of a conversation', () => {
  it('encrypts its records from the first message on, and each process with the keys reads them', async () => {
    const writer = processWith(deployment)
    await writer.append([cancelOf('a', '1'), cancelOf('b', '2')])
    await processWith(deployment).append([outputOf('a')])
    expect(await keysOf('a')).toHaveLength(1)
    expect(await keysOf('b')).toHaveLength(1)
    const reader = processWith(deployment)
    expect(await ids(reader)).toEqual(['1', '2'])
    expect(await ids(reader, activity)).toEqual(['m'])
    expect((await all(reader)).map(({ conversationKey }) => conversationKey)).toEqual([
      'present',
      'present',
    ])
    expect(await ids(raw)).toEqual([undefined, undefined])
    expect((await readAsStage(reader, 2)).map(({ value }) => messageOf(value)?.type)).toEqual([
      'cancel-requested',
      'cancel-requested',
    ])
  })

  it('deleted makes its records unreadable for everybody with the key of the deployment', async () => {
    const writer = processWith(deployment)
    await writer.append([cancelOf('a', '1'), cancelOf('b', '2')])
    await writer.append([outputOf('a')])
    expect(await ids(writer)).toEqual(['1', '2'])
    await deleteKeys('a')

    for (const bus of [writer, processWith(deployment)]) {
      expect(await ids(bus)).toEqual([undefined, '2'])
      expect(await ids(bus, activity)).toEqual([undefined])
      expect((await all(bus))[0]?.conversationKey).toBe('deleted')
      expect(bus.hidden?.()).toEqual([
        { tenant: 'default', name: '', reason: 'forgotten', hasOthers: true, count: 2 },
      ])
    }
    // The raw bytes too: no key of the deployment opens them, under any name.
    const attacker = createEncryption(new Map([['*', [deployment]]]), 'weir.')
    for (const record of await all(raw)) {
      const copied = { ...record, value: Buffer.from(record.value as Uint8Array) }
      expect(attacker.decrypted(copied, 'leave').value).toBe(copied.value)
      expect(attacker.decrypted(copied, 'leave', deployment).value).toBe(copied.value)
    }
  })

  it('stays readable after another conversation has a record that names it', async () => {
    const bus = processWith(deployment)
    await bus.append([cancelOf('a', '1')])
    const [own] = await all(raw)
    const value = Buffer.from(own?.value as Uint8Array)
    await raw.append([{ ...inbox, key: 'hostile', value }])
    const reader = processWith(deployment)
    const marks = async () => (await all(reader)).map(({ conversationKey }) => conversationKey)
    expect(await marks()).toEqual(['present', 'deleted'])
    expect(await marks()).toEqual(['present', 'deleted'])
    expect((await readAsStage(reader, 2)).map(({ conversationKey }) => conversationKey)).toEqual([
      'present',
      'deleted',
    ])
  })

  it('deleted stops no stage: the subscription marks its records and goes on', async () => {
    const writer = processWith(deployment)
    await writer.append([cancelOf('a', '1'), cancelOf('b', '2')])
    await deleteKeys('a')
    const [first, second] = await readAsStage(processWith(deployment), 2)
    expect(first?.conversationKey).toBe('deleted')
    expect(decode(second?.value as Uint8Array)).toMatchObject({ conversation: 'b' })
  })

  it('is not made anew by a stage that ends late, and is by the next message', async () => {
    const bus = processWith(deployment)
    await bus.append([cancelOf('a', '1')])
    await deleteKeys('a')
    await bus.append([outputOf('a')])
    expect(await keysOf('a')).toEqual([])
    expect(await ids(bus, activity)).toEqual(['m'])
    await bus.append([cancelOf('a', '2')])
    expect(await keysOf('a')).toHaveLength(1)
    expect(await ids(bus)).toEqual([undefined, '2'])
  })

  it('may be made by two writers at once: both keep their records readable', async () => {
    const [one, two] = [processWith(deployment), processWith(deployment)]
    await Promise.all([one.append([cancelOf('a', '1')]), two.append([cancelOf('a', '2')])])
    expect((await keysOf('a')).length).toBeGreaterThanOrEqual(1)
    const found = await ids(processWith(deployment))
    expect(found.toSorted()).toEqual(['1', '2'])
    await one.append([outputOf('a'), outputOf('a')])
    await deleteKeys('a')
    expect(await ids(two)).toEqual([undefined, undefined])
  })

  it('belongs to its conversation alone: a record under the id of another one does not decrypt', async () => {
    const bus = processWith(deployment)
    await bus.append([cancelOf('a', '1'), cancelOf('b', '2')])
    const [a] = await all(raw)
    const value = Buffer.from(a?.value as Uint8Array)
    await raw.append([{ ...inbox, key: 'b', value }])
    expect(await ids(bus)).toEqual(['1', '2', undefined])
  })

  it('never leaves the table in a readable form', async () => {
    const bus = processWith(deployment)
    await bus.append([cancelOf('a')])
    const listed = await bus.list({ ...table, prefix: '' })
    for (const { value } of [...listed, ...(await all(bus, table))])
      expect(() => decode(value as Uint8Array)).toThrow(
        expect.objectContaining({ code: 'codec.encrypted' }),
      )
    expect(bus.hidden?.()).toEqual([])
  })

  it('follows a new key of the deployment with the next message, and older records stay readable', async () => {
    await processWith(deployment).append([cancelOf('a', '1')])
    const later = processWith(rotated, deployment)
    await later.append([outputOf('a')])
    expect(await keysOf('a')).toHaveLength(1)
    await later.append([cancelOf('a', '2')])
    expect(await keysOf('a')).toHaveLength(2)
    expect(await ids(later)).toEqual(['1', '2'])
    const newOnly = processWith(rotated)
    expect(await ids(newOnly)).toEqual([undefined, '2'])
    expect(newOnly.hidden?.()).toMatchObject([{ name: 'k1', reason: 'missing' }])
  })

  it('is missing for a process without the key of the deployment, whose stage stops before the record', async () => {
    await processWith(deployment).append([outputOf('a'), cancelOf('a')])
    const without = processWith()
    expect(await ids(without)).toEqual([undefined])
    expect(without.hidden?.()).toMatchObject([{ name: 'k1', reason: 'missing', hasOthers: false }])
    // A client's record stops no stage, so the second topic has to be one of a stage.
    const record = { ...cancelOf('a'), topic: 'weir.conversation-events' }
    await processWith(deployment).append([record])
    const reader = { position: 0, read: async () => ({ outputs: [], commit: undefined }) }
    const subscription = await without.subscribe({
      group: 'g2',
      topic: record.topic,
      assign: async () => ({ ...reader, acknowledged() {}, async close() {} }),
    })
    await expect(subscription.failed).rejects.toMatchObject({
      code: 'encryption.key-missing',
      message: expect.stringContaining('the key k1'),
    })
    await subscription.close()
  })

  it('leaves records of the tenant from before readable', async () => {
    const tenantOnly = createEncryption(new Map([['*', [deployment]]]), 'weir.')
    await raw.append([tenantOnly.encrypted(cancelOf('a', '0'))])
    const bus = processWith(deployment)
    await bus.append([cancelOf('a', '1')])
    expect(await ids(bus)).toEqual(['0', '1'])
    expect((await all(bus)).map(({ conversationKey }) => conversationKey)).toEqual([
      undefined,
      'present',
    ])
  })

  it('waits for the format of the fleet: while an older process may run, the key of the tenant encrypts', async () => {
    const holder = {}
    hold(holder, 1)
    try {
      const bus = processWith(deployment)
      await bus.append([cancelOf('a', '1')])
      expect(await keysOf('a')).toEqual([])
      expect(await ids(bus)).toEqual(['1'])
      hold(holder, undefined)
      await bus.append([cancelOf('a', '2')])
      expect(await keysOf('a')).toHaveLength(1)
    } finally {
      hold(holder, undefined)
    }
  })

  it('is left out in a log from before its table', async () => {
    const old = await openEmbeddedBus({ file: ':memory:', clock: systemClock })
    const specs = topicSpecs('weir.', 1).filter(({ name }) => !name.endsWith('conversation-keys'))
    await old.ensureTopics(specs)
    const encryption = createEncryption(new Map([['*', [deployment]]]), 'weir.')
    const bus = encryptedBus(old, encryption, 'weir.')
    await bus.append([cancelOf('a', '1')])
    expect(await ids(bus)).toEqual(['1'])
    await old.close()
  })

  it('does not change the order of appends, although only the first one waits for a key', async () => {
    const bus = processWith(deployment)
    await bus.append([cancelOf('known', '0')])
    await Promise.all([
      bus.append([cancelOf('new', '1')]),
      bus.append([cancelOf('known', '2')]),
      bus.append([
        { ...cancelOf('x', '3'), value: encode({ type: 'tick', conversation: 'x', unit: 'u' }) },
      ]),
      bus.append([cancelOf('known', '4')]),
    ])
    expect(await ids(bus)).toEqual(['0', '1', '2', undefined, '4'])
  })
})
