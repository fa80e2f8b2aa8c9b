import { mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import fc from 'fast-check'
import { encryptedBus } from '../../../../shared/bus/encryption/encrypted-bus.ts'
import { createEncryption, type Encryption } from '../../../../shared/bus/encryption/encryption.ts'
import { tenantKeysOf } from '../../../../shared/bus/encryption/key-command.ts'
import {
  addTenantKey,
  deleteTenantKeys,
  readTenantKeys,
  type TenantKeys,
} from '../../../../shared/bus/encryption/tenant-keys.ts'
import { decode, encode, typeIn } from '../../../../shared/codec/codec.ts'
import type { Bus, RecordToAppend } from '../../../../shared/contract/bus.ts'
import type { Message } from '../../../../shared/contract/messages.ts'
import { historyKey } from '../../../../shared/contract/topology.ts'

const cancel: Message = { type: 'cancel-requested', conversation: 'acme:1', messageId: 'm' }

const key = (name: string, fill = 1) => ({ name, key: Buffer.alloc(32, fill) })
const of = (keys: Record<string, ReturnType<typeof key>[]>): TenantKeys =>
  new Map(Object.entries(keys))
const encryptionOf = (keys: TenantKeys) => createEncryption(keys, 'weir.')

function recordIn(topic: string, conversation = 'acme:1'): RecordToAppend {
  const value = encode({ ...cancel, conversation } as Message)
  return { topic: `weir.${topic}`, partition: 0, key: conversation, value }
}

function readBy(reader: Encryption, record: RecordToAppend): Message {
  return decode(reader.decrypted(record, 'throw').value as Uint8Array)
}

describe('the records of a tenant with a key', () => {
  const acme = of({ acme: [key('k1')] })

  it('are encrypted, and their type stays readable', () => {
    const record = recordIn('conversation-events')
    const hidden = encryptionOf(acme).encrypted(record)
    expect(Buffer.from(hidden.value as Uint8Array).includes('acme:1')).toBe(false)
    expect(typeIn(hidden.value as Uint8Array)).toBe('cancel-requested')
    expect(() => decode(hidden.value as Uint8Array)).toThrow(
      expect.objectContaining({ code: 'codec.encrypted' }),
    )
    expect(hidden).toEqual({ ...record, value: expect.anything() })
    expect(readBy(encryptionOf(acme), hidden)).toEqual(cancel)
  })

  it('are different bytes each time', () => {
    const encryption = encryptionOf(acme)
    const once = () => Buffer.from(encryption.encrypted(recordIn('activity')).value as Uint8Array)
    const values = Array.from({ length: 600 }, () => once().toString('base64'))
    expect(new Set(values).size).toBe(600)
  })

  it('are those of its conversations, its history and its sub-agents, and no others', () => {
    const { encrypted } = encryptionOf(acme)
    const isHidden = (topic: string, name: string) => {
      const record = { ...recordIn(topic), key: name }
      return encrypted(record) !== record
    }
    const history = historyKey({ conversation: 'acme:1', turn: 1, round: 1 })
    expect(isHidden('history', history)).toBe(true)
    expect(isHidden('rounds-cleared', 'call/acme:1')).toBe(true)
    expect(isHidden('conversation-events', 'other:1')).toBe(false)
    expect(isHidden('conversation-events', 'c')).toBe(false)
    expect(isHidden('policies', 'acme:1')).toBe(false)
    expect(isHidden('budgets', 'acme')).toBe(false)
  })

  it('do not decrypt at another key or in another topic', () => {
    const { encrypted, decrypted } = encryptionOf(acme)
    const hidden = encrypted(recordIn('conversation-events'))
    const copied = { ...hidden, value: Buffer.from(hidden.value as Uint8Array) }
    const moves = [{ key: 'acme:2' }, { topic: 'weir.guest-events' }]
    for (const move of moves)
      expect(decrypted({ ...copied, ...move }, 'throw').value).toBe(copied.value)
    expect(decode(decrypted(copied, 'throw').value as Uint8Array)).toEqual(cancel)
  })

  it('are left as they are after any change of their bytes, and never decrypt to something else', () => {
    const hidden = encryptionOf(acme).encrypted(recordIn('conversation-events'))
    const bytes = Buffer.from(hidden.value as Uint8Array)
    fc.assert(
      fc.property(fc.nat(bytes.length - 1), fc.integer({ min: 1, max: 255 }), (at, change) => {
        const value = Buffer.from(bytes)
        value[at] = (value[at] as number) ^ change
        const opened = encryptionOf(acme).decrypted({ ...hidden, value }, 'leave')
        expect(opened.value).toBe(value)
      }),
    )
  })

  it('survive any bytes in their place', () => {
    const { decrypted } = encryptionOf(acme)
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 80 }), (bytes) => {
        const value = Uint8Array.of(1, ...bytes)
        expect(decrypted({ ...recordIn('activity'), value }, 'leave').value).toBe(value)
      }),
    )
  })
})

describe('the keys of tenants', () => {
  it('rotate: the first one encrypts, and all of them decrypt', () => {
    const before = encryptionOf(of({ acme: [key('k1')] })).encrypted(recordIn('activity'))
    const rotated = encryptionOf(of({ acme: [key('k2', 2), key('k1')] }))
    const after = rotated.encrypted(recordIn('activity'))
    expect(readBy(rotated, before)).toEqual(cancel)
    const newOnly = encryptionOf(of({ acme: [key('k2', 2)] }))
    expect(readBy(newOnly, { ...after })).toEqual(cancel)
    expect(() => readBy(newOnly, before)).toThrow(
      expect.objectContaining({
        code: 'encryption.key-missing',
        message: expect.stringContaining('the key k1, which this process does not have'),
      }),
    )
  })

  it('may be those of all tenants without their own', () => {
    const { encrypted } = encryptionOf(of({ '*': [key('all')], acme: [key('own', 2)] }))
    const own = encrypted(recordIn('activity'))
    const other = encrypted(recordIn('activity', 'other:1'))
    const none = encrypted(recordIn('activity', 'c'))
    const all = encryptionOf(of({ '*': [key('all')] }))
    expect(readBy(all, other)).toMatchObject({ conversation: 'other:1' })
    expect(readBy(all, none)).toMatchObject({ conversation: 'c' })
    expect(() => readBy(all, own)).toThrow('the key own')
  })

  it('that were deleted make all records of the tenant unreadable, and stop no stage', () => {
    const record = recordIn('conversation-events')
    const before = encryptionOf(of({ acme: [key('k1')] })).encrypted(record)
    const deleted = encryptionOf(of({ acme: [], '*': [key('all', 3)] }))
    expect(deleted.decrypted(before, 'throw').value).toBe(before.value)
    const later = deleted.encrypted(record)
    const copied = { ...later, value: Buffer.from(later.value as Uint8Array) }
    const other = encryptionOf(of({ acme: [] }))
    expect(other.decrypted(copied, 'throw').value).toBe(copied.value)
    const renewed = encryptionOf(of({ acme: [key('k2')] }))
    expect(renewed.decrypted(copied, 'throw').value).toBe(copied.value)
    expect(() => deleted.encrypted(recordIn('client-messages'))).toThrow(
      expect.objectContaining({ code: 'encryption.deleted' }),
    )
  })
})

describe('the file of the keys', () => {
  let folder = ''
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'weir-keys-'))
  })
  afterAll(() => rmSync(folder, { recursive: true }))
  const read = readTenantKeys
  const namesIn = (file: string) =>
    [...read(file)].map(([tenant, keys]) => [tenant, keys.map(({ name }) => name)])

  it('has the newest key first, keeps deleted tenants, and is readable by its user only', () => {
    const file = join(folder, 'keys.json')
    const now = new Date('2026-11-24T10:00:00Z')
    const first = addTenantKey(file, 'acme', now)
    const second = addTenantKey(file, 'acme', now)
    const all = addTenantKey(file, '*', now)
    expect(first).toMatch(/^2026-11-24-[0-9a-f]{8}$/)
    expect(namesIn(file)).toEqual([
      ['acme', [second, first]],
      ['*', [all]],
    ])
    expect(statSync(file).mode & 0o777).toBe(0o600)
    expect(deleteTenantKeys(file, 'acme')).toBe(2)
    expect(namesIn(file)).toEqual([
      ['acme', []],
      ['*', [all]],
    ])
    expect(readFileSync(file, 'utf8')).not.toContain(first)
    expect(() => addTenantKey(file, 'acme', now)).toThrow(
      'give its new conversations another tenant',
    )
  })

  const ofAcme = (keys: unknown) => JSON.stringify({ version: 1, tenants: { acme: keys } })
  it.each([
    ['["s3cret"', 'it is no JSON object', 's3cret'],
    ['3', 'it is no JSON object', ''],
    ['{"version":2}', 'its version is not 1', ''],
    ['{"version":1}', 'it has no tenants', ''],
    ['{"version":1,"tenants":{"A b":[]}}', 'no tenant can have the name "A b"', ''],
    [ofAcme('x'), 'the keys of acme are no list', ''],
    [ofAcme([{ key: 'AAAA' }]), 'a key of acme has no name', 'AAAA'],
    [ofAcme([{ name: 'k', key: 'AAAA' }]), 'the key k of acme is not 32 bytes', 'AAAA'],
    [ofAcme([null]), 'a key of acme has no name', ''],
  ])('is refused and not shown: %s', (text, reason, secret) => {
    const file = join(folder, 'bad.json')
    writeFileSync(file, text, { mode: 0o600 })
    const attempt = () => read(file)
    expect(attempt).toThrow(reason)
    if (secret !== '') expect(attempt).not.toThrow(secret)
  })

  it('is refused if other users can read it, or it is missing', () => {
    const file = join(folder, 'open.json')
    writeFileSync(file, '{}', { mode: 0o644 })
    expect(() => read(file)).toThrow('run chmod 600 on it')
    expect(() => read(join(folder, 'none.json'))).toThrow('there is no such file')
  })

  it('may be the output of a command, whose text is never shown', () => {
    const file = join(folder, 'printed.json')
    addTenantKey(file, 'acme', new Date(0))
    expect(tenantKeysOf(`cat  ${file}`)).toEqual(read(file))
    const script = join(folder, 'fails.js')
    writeFileSync(script, 'console.log("s3cret"); process.exit(3)')
    const failing = () => tenantKeysOf(`${process.execPath} ${script}`)
    expect(failing).toThrow('it ended with exit code 3')
    expect(failing).not.toThrow('s3cret')
    expect(() => tenantKeysOf('no-such-program')).toThrow('there is no program no-such-program')
  })
})

describe('unusable keys', () => {
  const folder = mkdtempSync(join(tmpdir(), 'weir-bad-keys-'))
  const file = join(folder, 'keys.json')
  afterAll(() => rmSync(folder, { recursive: true, force: true }))

  function faultOf(tenants: unknown): string {
    writeFileSync(file, JSON.stringify({ version: 1, tenants }), { mode: 0o600 })
    try {
      readTenantKeys(file)
      return ''
    } catch (error) {
      return (error as Error).message
    }
  }
  const stored = (name: string, fill: number) => ({
    name,
    key: Buffer.alloc(32, fill).toString('base64'),
  })

  it('are named: two keys under one name, no tenants, no file, a folder', () => {
    expect(faultOf({ a: [stored('k1', 1)], b: [stored('k1', 2)] })).toContain(
      'two keys have the name k1',
    )
    expect(faultOf({ a: [stored('k1', 1)], b: [stored('k1', 1)] })).toBe('')
    expect(faultOf([])).toContain('it has no tenants')
    expect(() => readTenantKeys(join(folder, 'none'))).toThrow('there is no such file')
    const owned = join(folder, 'owned')
    mkdirSync(owned, { mode: 0o700 })
    expect(() => readTenantKeys(owned)).toThrow('it is a folder')
  })

  it('are named: a command that is missing, or that fails', () => {
    expect(() => tenantKeysOf('weir-no-such-program')).toThrow('there is no program weir-no-such')
    expect(() => tenantKeysOf('false')).toThrow('the output of false cannot be used: it ended with')
  })
})

describe('a reader without the key of a record', () => {
  it('counts each hidden record once, by tenant, key and reason', async () => {
    const written = encryptionOf(of({ acme: [key('k1')], beta: [key('k2')] }))
    const records = ['acme:1', 'acme:2', 'beta:1', 'none:1'].map((conversation, offset) => ({
      ...written.encrypted(recordIn('activity', conversation)),
      offset,
      time: 0,
    }))
    const read = async (keys: TenantKeys) => {
      const bus = { recordBytesMax: 1, read: async () => records } as unknown as Bus
      const reader = encryptedBus(bus, createEncryption(keys, 'weir.'), 'weir.')
      const range = { topic: 'weir.activity', partition: 0, from: 0, limit: 9 }
      await reader.read(range)
      await reader.read(range)
      return reader
        .hidden?.()
        .map(({ tenant, name, reason, count }) => [tenant, name, reason, count])
    }
    expect(await read(of({}))).toEqual([
      ['acme', 'k1', 'missing', 2],
      ['beta', 'k2', 'missing', 1],
    ])
    expect(await read(of({ acme: [], beta: [key('k2')] }))).toEqual([['acme', 'k1', 'deleted', 2]])
    expect(await read(of({ acme: [key('k1', 7)], beta: [key('k2')] }))).toEqual([
      ['acme', 'k1', 'unfit', 2],
    ])
  })
})
