// Encrypts the values of records by tenant, with AES-256-GCM of node:crypto.
//
// An encrypted value begins with the byte 1, and the id of its schema as in the codec's frame. Then
// come the length of the key's name, the name, 12 bytes of nonce, the encrypted frame and 16 bytes of
// tag. Keys of records, ids and types stay readable, because the bus and its readers need them.
// ENCRYPTION-1. The tag covers the topic and the key of the record too, so a value cannot move to
//     another place.
// ENCRYPTION-2. A tenant with deleted keys gets no readable record. A record that a stage
//     still writes for it is encrypted with a key of this process alone, which is in no file.

import { createCipheriv, createDecipheriv, randomBytes, randomFillSync } from 'node:crypto'
import { encryptedByte, headerBytes } from '../../codec/codec.ts'
import type { HiddenRecords, RecordToAppend } from '../../contract/bus.ts'
import { tenantOf } from '../../contract/tenant.ts'
import {
  auditKeyOfOperator,
  historyConversation,
  nameWithoutPrefix,
} from '../../contract/topology.ts'
import { WeirError } from '../../lib/errors.ts'
import {
  everyTenant,
  isKeyName,
  keyNameMax,
  type TenantKey,
  type TenantKeys,
} from './tenant-keys.ts'

const nonceBytes = 12
const tagBytes = 16
const addedBytesMax = headerBytes + 1 + keyNameMax + nonceBytes + tagBytes
const algorithm = 'aes-256-gcm'

export type Encryption = {
  /** The bytes that it adds to a value, at most. 0: it has no key. */
  readonly addedBytesMax: number
  /** Whether clients write the topic, which is given with its prefix. */
  isOfClients(topic: string): boolean
  /** Throws `encryption.deleted` for a message of a client whose tenant has no keys any more. */
  encrypted<One extends RecordToAppend>(record: One): One
  /**
   * As `encrypted`, for a record of another process, which may be encrypted already. Throws also
   * `encryption.key-missing` for a readable message of a client whose tenant has keys.
   */
  encryptedForOthers<One extends RecordToAppend>(record: One): One
  /**
   * The record with a readable value. As it is: not encrypted, damaged, or its key was deleted.
   * `missing`: for a record whose key this process never had.
   */
  decrypted<One extends RecordToAppend>(record: One, missing: 'leave' | 'throw'): One
  /** The reason why this record, which `decrypted` returned encrypted, is not readable. */
  hiddenBy(record: RecordToAppend): Omit<HiddenRecords, 'count'>
}

export function createEncryption(keys: TenantKeys, topicPrefix: string): Encryption {
  const byTenant = new Map([...keys].map(([tenant, all]) => [tenant, all[0] ?? thrownAway()]))
  const byName = new Map([...keys].flatMap(([, all]) => all.map((one) => [one.name, one] as const)))
  const nonces = createNonces()
  /** The values of this process, so the next stage need not decrypt them. */
  const ours = new WeakMap<Uint8Array, Uint8Array>()

  return {
    addedBytesMax: byTenant.size === 0 ? 0 : addedBytesMax,
    isOfClients,

    encrypted,

    encryptedForOthers(record) {
      const hidden = encrypted(record)
      if (hidden !== record && isOfClients(record.topic))
        throw new WeirError(
          'encryption.key-missing',
          `the records of the tenant ${tenantIn(record)} are encrypted, and this process has no key for it: give it the file of the keys (encryptionKeys)`,
        )
      return hidden
    },

    decrypted(record, missing) {
      const { value } = record
      if (value === null || value[0] !== encryptedByte) return record
      const own = ours.get(value)
      if (own !== undefined) return { ...record, value: own }
      const parts = partsOf(value)
      const key = byName.get(parts?.name ?? '')
      if (key !== undefined) {
        const plain = parts && decryptedValue(key, value, parts, placeOf(record))
        return plain === undefined ? record : { ...record, value: plain }
      }
      if (parts === undefined || missing === 'leave') return record
      if (parts.name === deletedName || isDeleted(tenantIn(record))) return record
      const { topic, partition } = record
      throw new WeirError(
        'encryption.key-missing',
        `a record in ${topic}/${partition} of ${JSON.stringify(record.key.slice(0, 80))} is encrypted with the key ${parts.name}, which this process does not have: give it the keys of all tenants (encryptionKeys)`,
      )
    },

    hiddenBy(record) {
      const { name = '' } = (record.value && partsOf(record.value)) ?? {}
      const tenant = tenantIn(record)
      const known = keys.get(tenant ?? '') ?? keys.get(everyTenant) ?? []
      const absent = name === deletedName || isDeleted(tenant) ? 'deleted' : 'missing'
      const reason = name === '' || byName.has(name) ? 'unfit' : absent
      return { tenant: tenant ?? '', name, reason, hasOthers: known.length > 0 }
    },
  }

  function encrypted<One extends RecordToAppend>(record: One): One {
    if (byTenant.size === 0) return record
    const { value } = record
    const tenant = tenantIn(record)
    if (value === null || tenant === undefined || value[0] === encryptedByte) return record
    const key = byTenant.get(tenant) ?? byTenant.get(everyTenant)
    if (key === undefined) return record
    if (key.name === deletedName && isOfClients(record.topic))
      throw new WeirError(
        'encryption.deleted',
        `the keys of the tenant ${tenant} were deleted, so it accepts no messages: send them for a tenant with keys (encryptionKeys)`,
      )
    const hidden = encryptedValue(key, nonces(), value, placeOf(record))
    ours.set(hidden, value)
    return { ...record, value: hidden }
  }

  function isOfClients(topic: string): boolean {
    return nameOf(topic) === 'client-messages'
  }

  function nameOf(topic: string): string {
    return nameWithoutPrefix(topic, topicPrefix) ?? topic
  }

  function placeOf({ topic, key }: RecordToAppend): string {
    return `${nameOf(topic)}\n${key}`
  }

  function tenantIn({ topic, key }: RecordToAppend): string | undefined {
    return tenantOfRecord(nameOf(topic), key)
  }

  function isDeleted(tenant: string | undefined): boolean {
    return tenant !== undefined && keys.get(tenant)?.length === 0
  }
}

/** Undefined: the topic has no content of tenants. */
export function tenantOfRecord(name: string, key: string): string | undefined {
  switch (name) {
    case 'policies':
    case 'budgets':
      return undefined
    case 'audit':
      return key === auditKeyOfOperator ? undefined : tenantOf(key)
    case 'history':
      return tenantOf(historyConversation(key) ?? '')
    default:
      return tenantOf(key)
  }
}

const deletedName = 'deleted'

function thrownAway(): TenantKey {
  return { name: deletedName, key: randomBytes(32) }
}

/** A call of randomBytes for each record costs as much as its encryption. */
function createNonces(): () => Buffer {
  const pool = Buffer.alloc(nonceBytes * 256)
  let at = pool.length
  return () => {
    if (at === pool.length) {
      randomFillSync(pool)
      at = 0
    }
    const nonce = Buffer.from(pool.subarray(at, at + nonceBytes))
    at += nonceBytes
    return nonce
  }
}

function encryptedValue(
  { name, key }: TenantKey,
  nonce: Buffer,
  value: Uint8Array,
  place: string,
): Buffer {
  const head = Buffer.alloc(headerBytes + 1 + name.length)
  head.set(value.subarray(0, headerBytes))
  head[0] = encryptedByte
  head[headerBytes] = name.length
  head.write(name, headerBytes + 1, 'latin1')
  const cipher = createCipheriv(algorithm, key, nonce)
  cipher.setAAD(Buffer.concat([head, Buffer.from(place)]))
  return Buffer.concat([head, nonce, cipher.update(value), cipher.final(), cipher.getAuthTag()])
}

type Parts = { name: string; headBytes: number }

/** Undefined: other bytes that begin alike. */
function partsOf(value: Uint8Array): Parts | undefined {
  const headBytes = headerBytes + 1 + (value[headerBytes] ?? 0)
  if (value.length < headBytes + nonceBytes + tagBytes) return undefined
  const name = Buffer.from(value.subarray(headerBytes + 1, headBytes)).toString('latin1')
  return isKeyName(name) ? { name, headBytes } : undefined
}

/** Undefined: the tag does not fit. */
function decryptedValue(
  { key }: TenantKey,
  value: Uint8Array,
  { headBytes }: Parts,
  place: string,
): Uint8Array | undefined {
  const body = headBytes + nonceBytes
  const decipher = createDecipheriv(algorithm, key, value.subarray(headBytes, body), {
    authTagLength: tagBytes,
  })
  decipher.setAAD(Buffer.concat([value.subarray(0, headBytes), Buffer.from(place)]))
  decipher.setAuthTag(value.subarray(value.length - tagBytes))
  const plain = decipher.update(value.subarray(body, value.length - tagBytes))
  try {
    decipher.final()
    return plain
  } catch {
    return undefined
  }
}
