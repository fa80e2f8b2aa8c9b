// The checkers' own decryption, over values that Weir encrypted.

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { createEncryption, newConversationKey } from '../../shared/bus/encryption/encryption.ts'
import {
  addTenantKey,
  readTenantKeys,
  type TenantKey,
} from '../../shared/bus/encryption/tenant-keys.ts'
import { encode } from '../../shared/codec/codec.ts'
import { userMessage } from '../support/messages.ts'
import { decrypt, readKeys } from './decryption.ts'

const folder = mkdtempSync(join(tmpdir(), 'weir-decryption-'))
const file = join(folder, 'keys.json')
const own = newConversationKey()
const place = { topic: 'client-messages', key: 'c' }
const value = encode(userMessage({ conversation: 'c' }))

beforeAll(() => {
  addTenantKey(file, '*', new Date())
})
afterAll(() => rmSync(folder, { recursive: true }))

function encrypted(key?: TenantKey): Buffer {
  const { encrypted } = createEncryption(readTenantKeys(file), 'weir.')
  const record = { topic: 'weir.client-messages', partition: 0, key: 'c', value }
  return Buffer.from(encrypted(record, key).value)
}

describe('the decryption of the checkers', () => {
  it('reads values with the key of a tenant, with that of a conversation, and without one', () => {
    const keys = readKeys(file)
    expect(decrypt(keys, place, encrypted())).toEqual({ value, encryptedWith: 'tenant' })
    keys.set(own.name, { of: 'conversation', key: own.key })
    expect(decrypt(keys, place, encrypted(own))).toEqual({ value, encryptedWith: 'conversation' })
    expect(decrypt(keys, place, value)).toEqual({ value, encryptedWith: undefined })
  })

  it('fails without the key, and for a record that moved', () => {
    const keys = readKeys(file)
    expect(() => decrypt(keys, place, encrypted(own))).toThrow(`no key has the name ${own.name}`)
    expect(() => decrypt(keys, { ...place, key: 'd' }, encrypted())).toThrow()
  })
})
