// Keys of conversations on a real broker, with two processes of the deployment.

import { describe, expect, it } from '@jest/globals'
import { encryptedBus } from '../../../../shared/bus/encryption/encrypted-bus.ts'
import { createEncryption } from '../../../../shared/bus/encryption/encryption.ts'
import { renewKeys } from '../../../../shared/bus/encryption/key-renewal.ts'
import type { TenantKey } from '../../../../shared/bus/encryption/tenant-keys.ts'
import { messageOf } from '../../../../shared/codec/message-of.ts'
import type { Bus } from '../../../../shared/contract/bus.ts'
import { topicSpecs } from '../../../../shared/contract/retention.ts'
import { toRecord } from '../../../../shared/runtime/record.ts'
import { newName } from '../contract-world.ts'
import { kafkaWorld } from '../kafka/kafka-world.ts'

const world = kafkaWorld()

describe('the key of a conversation on Kafka', () => {
  it('is read by another process, and deleted makes the records of both unreadable at once', async () => {
    const prefix = `${newName('keys')}.`
    const deployment = new Map([['*', [{ name: 'k1', key: Buffer.alloc(32, 1) }]]])
    const processOn = (bus: Bus) => encryptedBus(bus, createEncryption(deployment, prefix), prefix)
    const raw = await world.open()
    const [one, two] = [processOn(await world.open()), processOn(await world.open())]
    const needed = [`${prefix}client-messages`, `${prefix}conversation-keys`]
    await raw.ensureTopics(topicSpecs(prefix, 1).filter(({ name }) => needed.includes(name)))

    const inbox = { topic: `${prefix}client-messages`, partition: 0 }
    const table = { topic: `${prefix}conversation-keys`, partition: 0 }
    const messages = ['a', 'b'].map((conversation) =>
      toRecord({ ...inbox, message: { type: 'cancel-requested', conversation, messageId: 'm' } }),
    )
    const read = async (bus: Bus) =>
      (await bus.read({ ...inbox, from: 0, limit: 9 })).map(({ key, value, conversationKey }) => [
        key,
        messageOf(value)?.type,
        conversationKey,
      ])
    await one.append(messages)
    expect(await read(two)).toEqual([
      ['a', 'cancel-requested', 'present'],
      ['b', 'cancel-requested', 'present'],
    ])

    const keys = await one.list({ ...table, prefix: '["a",', upToNow: true })
    expect(keys).toHaveLength(1)
    await one.append(keys.map(({ key }) => ({ ...table, key, value: null })))
    // The copy of the other process is current.
    await two.list({ ...table, prefix: '', upToNow: true })
    const afterwards = [
      ['a', undefined, 'deleted'],
      ['b', 'cancel-requested', 'present'],
    ]
    for (const bus of [one, two, processOn(raw)]) expect(await read(bus)).toEqual(afterwards)
    expect(two.hidden?.()).toMatchObject([{ reason: 'forgotten', count: 1 }])
  })

  it('stays deleted if a renewal of the keys writes it after its deletion', async () => {
    const prefix = `${newName('renewed')}.`
    const older = { name: 'k1', key: Buffer.alloc(32, 1) }
    const newer = { name: 'k2', key: Buffer.alloc(32, 2) }
    const encryptionOf = (...keys: TenantKey[]) => createEncryption(new Map([['*', keys]]), prefix)
    const raw = await world.open()
    const topics = ['client-messages', 'conversation-keys']
    const specs = topicSpecs(prefix, 1)
    await raw.ensureTopics(specs.filter(({ name }) => topics.includes(name.slice(prefix.length))))
    const inbox = { topic: `${prefix}client-messages`, partition: 0 }
    const table = { topic: `${prefix}conversation-keys`, partition: 0 }
    const first = encryptedBus(await world.open(), encryptionOf(older), prefix)
    await first.append(
      ['a', 'b'].map((conversation) =>
        toRecord({ ...inbox, message: { type: 'cancel-requested', conversation, messageId: 'm' } }),
      ),
    )

    const encryption = encryptionOf(newer, older)
    const bus = encryptedBus(await world.open(), encryption, prefix)
    let isFirst = true
    const late: Bus = {
      ...bus,
      async append(records, options) {
        const [own] = records.filter(({ key }) => key.startsWith('["a",'))
        if (isFirst && own) await raw.append([{ ...own, value: null }])
        isFirst = false
        return bus.append(records, options)
      },
    }
    const renewal = { bus: late, topicPrefix: prefix, topics, encryption }
    expect(await renewKeys(renewal)).toEqual({ renewed: 2, removed: 0, unreadable: 0 })
    const left = await raw.list({ ...table, prefix: '', upToNow: true })
    expect(left.map(({ key }) => JSON.parse(key)[0])).toEqual(['b'])
  })
})
