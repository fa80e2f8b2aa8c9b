// The renewal of conversations' keys, over a log in memory with a moved clock.

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals'
import { pino } from 'pino'
import { renewConversationKeys } from '../../../../apps/service/keys/renew.ts'
import { openBus } from '../../../../client/place/open-bus.ts'
import { openEmbeddedBus } from '../../../../shared/bus/embedded/bus.ts'
import { encryptedBus } from '../../../../shared/bus/encryption/encrypted-bus.ts'
import { createEncryption } from '../../../../shared/bus/encryption/encryption.ts'
import { renewKeys } from '../../../../shared/bus/encryption/key-renewal.ts'
import {
  addTenantKey,
  readTenantKeys,
  type TenantKey,
} from '../../../../shared/bus/encryption/tenant-keys.ts'
import { messageOf } from '../../../../shared/codec/message-of.ts'
import type { Bus } from '../../../../shared/contract/bus.ts'
import { topicSpecs } from '../../../../shared/contract/retention.ts'
import { systemClock } from '../../../../shared/lib/clock.ts'
import { toRecord } from '../../../../shared/runtime/record.ts'
import { readSettings } from '../../../../shared/settings/settings.ts'
import { printed } from '../../../support/output.ts'

const older = { name: 'k1', key: Buffer.alloc(32, 1) }
const newer = { name: 'k2', key: Buffer.alloc(32, 2) }
const day = 24 * 3_600_000
const inbox = { topic: 'weir.client-messages', partition: 0 }
const activity = { topic: 'weir.activity', partition: 0 }
const table = { topic: 'weir.conversation-keys', partition: 0 }
const topics = topicSpecs('', 1).map(({ name }) => name)

let now = 0
let raw: Bus
beforeEach(async () => {
  now = 1_000 * day
  raw = await openEmbeddedBus({ file: ':memory:', clock: { ...systemClock, now: () => now } })
  await raw.ensureTopics(topicSpecs('weir.', 1))
})
afterEach(() => raw.close())

const encryptionOf = (...keys: TenantKey[]) => createEncryption(new Map([['*', keys]]), 'weir.')
const processWith = (...keys: TenantKey[]) => encryptedBus(raw, encryptionOf(...keys), 'weir.')

function cancelOf(conversation: string, messageId = 'm') {
  const message = { type: 'cancel-requested', conversation, messageId } as const
  return toRecord({ ...inbox, message })
}

const idsIn = async (bus: Bus, place = inbox) =>
  (await bus.read({ ...place, from: 0, limit: 100 })).map(({ value }) => {
    const message = messageOf(value)
    return message?.type === 'cancel-requested' ? message.messageId : undefined
  })
const rows = () => raw.list({ ...table, prefix: '' })

function renewed(bus: Bus, ...keys: TenantKey[]) {
  return renewKeys({ bus, topicPrefix: 'weir.', topics, encryption: encryptionOf(...keys) })
}

describe('a renewal of the keys of conversations', () => {
  it('lets a process without the older key of the tenant read all records', async () => {
    await processWith(older).append([cancelOf('a', '1'), cancelOf('b', '2')])
    expect(await idsIn(processWith(newer))).toEqual([undefined, undefined])
    const both = processWith(newer, older)
    expect(await renewed(both, newer, older)).toEqual({ renewed: 2, removed: 0, unreadable: 0 })
    for (const bus of [processWith(newer), both]) expect(await idsIn(bus)).toEqual(['1', '2'])
    expect(await idsIn(processWith(older))).toEqual([undefined, undefined])
    expect(await renewed(both, newer, older)).toEqual({ renewed: 0, removed: 0, unreadable: 0 })
  })

  it('leaves a key that no key of the file decrypts, and counts it', async () => {
    await processWith(older).append([cancelOf('a', '1')])
    const bus = processWith(newer)
    expect(await renewed(bus, newer)).toEqual({ renewed: 0, removed: 0, unreadable: 1 })
    expect(await idsIn(processWith(newer, older))).toEqual(['1'])
  })

  it('leaves the keys of a tenant whose own keys were deleted', async () => {
    await processWith(older).append([cancelOf('acme:a', '1')])
    const keys = new Map([
      ['*', [newer, older]],
      ['acme', []],
    ])
    const encryption = createEncryption(keys, 'weir.')
    const bus = encryptedBus(raw, encryption, 'weir.')
    const before = await rows()
    await renewKeys({ bus, topicPrefix: 'weir.', topics, encryption })
    expect(await rows()).toEqual(before)
  })

  it('deletes the keys of conversations without a record, once no message begins with them', async () => {
    const bus = processWith(older)
    await bus.append([cancelOf('gone'), { ...cancelOf('stays'), ...activity }])
    await bus.append([cancelOf('stays')])
    const [first] = await raw.read({ ...inbox, from: 0, limit: 1 })
    expect(first?.key).toBe('gone')
    const erasure = { topicPrefix: 'weir.', conversations: ['gone'], forks: [], keep: [] }
    // As retention does: the records go, and the key stays.
    const [kept] = await raw.list({ ...table, prefix: '["gone",' })
    await raw.erase?.({ ...erasure, seen: [], evidence: [] })
    await raw.append([{ ...table, key: kept!.key, value: kept!.value }])
    now += 30 * day
    expect(await renewed(bus, older)).toMatchObject({ removed: 0 })
    now += 2 * day
    expect(await renewed(bus, older)).toMatchObject({ removed: 1 })
    expect((await rows()).map(({ key }) => JSON.parse(key)[0])).toEqual(['stays'])
    expect(await idsIn(bus)).toEqual(['m'])
  })
})

describe('weir keys renew', () => {
  let folder: string
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'weir-renew-'))
  })
  afterEach(() => rmSync(folder, { recursive: true }))
  const file = () => join(folder, 'keys.json')
  const settings = () =>
    readSettings({ dataFolder: folder, encryptionKeys: file(), logLevel: 'silent' }, {})
  async function openWriter(): Promise<Bus> {
    const bus = await openBus(settings(), pino({ level: 'silent' }))
    await bus.ensureTopics(topicSpecs('weir.', 1))
    return bus
  }

  it('renews the keys of a data folder, and needs it for itself', async () => {
    addTenantKey(file(), '*', new Date(0))
    const bus = await openWriter()
    await bus.append([cancelOf('a', '1')])
    const renewing = () => printed((out) => renewConversationKeys({}, settings(), out))
    await expect(renewing()).rejects.toThrow('a process writes the data folder: stop it')
    await bus.close()

    expect(await renewing()).toBe(
      'renewed 0 keys of conversations, and deleted 0 keys of conversations that are gone\n',
    )
    const name = addTenantKey(file(), '*', new Date(day))
    expect(await renewing()).toMatch(/^renewed 1 key of conversations/)
    const [newest] = readTenantKeys(file()).get('*') ?? []
    expect(newest?.name).toBe(name)
    writeFileSync(
      file(),
      JSON.stringify({
        version: 1,
        tenants: { '*': [{ name, key: newest?.key.toString('base64') }] },
      }),
    )
    const reader = await openWriter()
    expect(await idsIn(reader)).toEqual(['1'])
    await reader.close()
  })

  it('needs the keys of the tenants', async () => {
    const none = readSettings({ dataFolder: folder }, {})
    await expect(printed((out) => renewConversationKeys({}, none, out))).rejects.toThrow(
      'give the keys of the tenants: --encryption-keys or --encryption-command',
    )
  })
})

describe('the key of a conversation that is older than a month', () => {
  it('begins no new message, and encrypts late records of stages only without a newer key', async () => {
    const bus = processWith(older)
    await bus.append([cancelOf('a', '1')])
    now += 31 * day
    const output = { ...cancelOf('a', '2'), ...activity }
    await bus.append([output])
    expect(await rows()).toHaveLength(1)
    await bus.append([cancelOf('a', '3')])
    expect(await rows()).toHaveLength(2)
    const names = async () =>
      (await raw.read({ ...activity, from: 0, limit: 9 })).map((record) =>
        encryptionOf(older).keyNameIn(record),
      )
    const [before] = await names()
    await bus.append([output])
    const [, after] = await names()
    expect(before).toMatch(/^conversation-/)
    expect(after).toMatch(/^conversation-/)
    expect(after).not.toBe(before)
    expect(await idsIn(bus)).toEqual(['1', '3'])
    expect(await idsIn(bus, activity)).toEqual(['2', '2'])
  })
})
