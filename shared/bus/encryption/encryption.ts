// Encrypts the values of records with AES-256-GCM of node:crypto: by the key of their conversation
// (conversation-keys.ts), otherwise by that of their tenant.
//
// An encrypted value begins with the byte 1, and the id of its schema as in the codec's frame. Then
// come the length of the key's name, the name, 12 bytes of nonce, the encrypted frame and 16 bytes of
// tag. Keys of records, ids and types stay readable, because the bus and its readers need them.
// The tag covers the topic and the key of the record too, so a value cannot move to
// another place.
// A tenant with deleted keys gets no readable record. A record that a stage
// still writes for it is encrypted with a key of this process alone, which is in no file.

import { createCipheriv, createDecipheriv, randomBytes, randomFillSync } from 'node:crypto'
import { encryptedByte, headerBytes, typeIn } from '../../codec/codec.ts'
import type { HiddenRecords, RecordToAppend } from '../../contract/bus.ts'
import { historyConversation } from '../../contract/history/history-keys.ts'
import type { ConversationId } from '../../contract/ids.ts'
import type { MessageType } from '../../contract/messages.ts'
import { tenantOf } from '../../contract/tenant.ts'
import { auditKeyOfOperator, nameWithoutPrefix } from '../../contract/topology.ts'
import { WeirError } from '../../lib/errors.ts'
import {
  everyTenant,
  isKeyName,
  keyBytes,
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
  /**
   * The conversation whose own key may encrypt the record. Undefined: the record has no content, or
   * the tenant has no key here.
   */
  conversationOf(record: RecordToAppend): ConversationId | undefined
  /** The name of the key that encrypts new records of the tenant. Undefined: none. */
  currentName(conversation: ConversationId): string | undefined
  /**
   * `key`: that of the record's conversation. Default: its tenant's. Throws `encryption.deleted` for
   * a message of a client whose tenant has no keys any more.
   */
  encrypted<One extends RecordToAppend>(record: One, key?: TenantKey): One
  /**
   * As `encrypted`, for a record of another process, which may be encrypted already. Throws also
   * `encryption.key-missing` for a readable message of a client whose tenant has keys.
   */
  encryptedForOthers<One extends RecordToAppend>(record: One, key?: TenantKey): One
  /**
   * The record with a readable value. As it is: not encrypted, damaged, or its key was deleted.
   * `missing`: for a record whose key this process never had. `key`: that of the record's conversation.
   */
  decrypted<One extends RecordToAppend>(
    record: One,
    missing: 'leave' | 'throw',
    key?: TenantKey,
  ): One
  /** The name of the key that encrypts the record. Undefined: none does. */
  keyNameIn(record: RecordToAppend): string | undefined
  /** As keyNameIn, if that key belongs to the record's conversation. */
  conversationKeyIn(record: RecordToAppend): string | undefined
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

    conversationOf(record) {
      const { value, topic, key } = record
      if (byTenant.size === 0 || value === null || value[0] === encryptedByte) return undefined
      if (withoutContent.has(typeIn(value))) return undefined
      const conversation = conversationIn(nameOf(topic), key)
      const name = conversation && currentName(conversation)
      return name === undefined || name === deletedName ? undefined : conversation
    },

    currentName,

    encrypted,

    encryptedForOthers(record, own) {
      const hidden = encrypted(record, own)
      if (hidden !== record && isOfClients(record.topic))
        throw new WeirError(
          'encryption.key-missing',
          `the records of the tenant ${tenantIn(record)} are encrypted, and this process has no key for it: give it the file of the keys (encryptionKeys)`,
        )
      return hidden
    },

    decrypted(record, missing, own) {
      const { value } = record
      if (value === null || value[0] !== encryptedByte) return record
      const readable = ours.get(value)
      if (readable !== undefined) return { ...record, value: readable }
      const parts = partsOf(value)
      const key = own ?? byName.get(parts?.name ?? '')
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

    keyNameIn,

    conversationKeyIn(record) {
      const name = keyNameIn(record)
      return name?.startsWith(ownPrefix) && !byName.has(name) ? name : undefined
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

  function currentName(conversation: ConversationId): string | undefined {
    return keyOf(tenantOf(conversation))?.name
  }

  function keyOf(tenant: string): TenantKey | undefined {
    return byTenant.get(tenant) ?? byTenant.get(everyTenant)
  }

  function encrypted<One extends RecordToAppend>(record: One, own?: TenantKey): One {
    if (byTenant.size === 0) return record
    const { value } = record
    const tenant = tenantIn(record)
    if (value === null || tenant === undefined || value[0] === encryptedByte) return record
    const key = own ?? keyOf(tenant)
    if (key === undefined) return record
    if (key.name === deletedName && isOfClients(record.topic))
      throw new WeirError(
        'encryption.deleted',
        `the keys of the tenant ${tenant} were deleted, so it accepts no messages: send them for a tenant with keys (encryptionKeys)`,
      )
    const hidden = encryptedValue(key, nonces(), value, placeOf(record))
    if (nameOf(record.topic) !== 'conversation-keys') ours.set(hidden, value)
    return { ...record, value: hidden }
  }

  function keyNameIn({ value }: RecordToAppend): string | undefined {
    return value?.[0] === encryptedByte ? partsOf(value)?.name : undefined
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
    case 'conversation-keys':
      return tenantOf(historyConversation(key) ?? '')
    default:
      return tenantOf(key)
  }
}

/** Undefined: no key of a conversation encrypts the record. */
export function conversationIn(name: string, key: string): ConversationId | undefined {
  if (name === 'history') return historyConversation(key)
  if (name === 'audit' && key === auditKeyOfOperator) return undefined
  return ['policies', 'budgets', 'conversation-keys'].includes(name) ? undefined : key
}

/**
 * Types of records that stay readable after the deletion of their conversation: a stage acts on them,
 * or readers do. They have no content.
 */
const withoutContent: ReadonlySet<MessageType | undefined> = new Set([
  ...(['tick', 'conversation-forgotten'] as const),
])

/** Begins the names of keys of conversations. */
const ownPrefix = 'conversation-'

/** A new key of a conversation. */
export function newConversationKey(): TenantKey {
  const id = randomBytes(keyNameMax)
    .toString('hex')
    .slice(0, keyNameMax - ownPrefix.length)
  return { name: ownPrefix + id, key: randomBytes(keyBytes) }
}

/** The name of the key of a tenant whose keys were deleted. No process has the key itself. */
export const deletedName = 'deleted'

function thrownAway(): TenantKey {
  return { name: deletedName, key: randomBytes(keyBytes) }
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
