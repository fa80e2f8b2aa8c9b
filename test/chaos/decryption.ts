// Decrypts values with node:crypto and the file of the tenants' keys. It uses no code of Weir: a fault
// of Weir's encryption must not hide records from the checkers.

import { createDecipheriv } from 'node:crypto'
import { readFileSync } from 'node:fs'
import type { EncryptedWith } from '../evidence/evidence.ts'

/** Keys of tenants and of conversations, by name. */
export type Keys = Map<string, { of: EncryptedWith; key: Uint8Array }>

/** `place`: the topic without prefix, and the record's key. */
type Place = { topic: string; key: string }

export type Decrypted = { value: Buffer; encryptedWith: EncryptedWith | undefined }

const headerBytes = 5
const nonceBytes = 12
const tagBytes = 16
const encrypted = 1
/** Evidence that outlives the key of its conversation: an outline, and the whole with that key. */
const envelope = 2

/** `file`: undefined: no record is encrypted. */
export function readKeys(file: string | undefined): Keys {
  if (file === undefined) return new Map()
  const { tenants } = JSON.parse(readFileSync(file, 'utf8')) as {
    tenants: Record<string, { name: string; key: string }[]>
  }
  const all = Object.values(tenants).flat()
  return new Map(
    all.map(({ name, key }) => [name, { of: 'tenant', key: Buffer.from(key, 'base64') }]),
  )
}

/** Throws for a value whose key is missing or does not fit. */
export function decrypt(keys: Keys, place: Place, value: Buffer): Decrypted {
  if (value[0] !== encrypted) return { value, encryptedWith: undefined }
  const nameEnd = headerBytes + 1 + (value[headerBytes] ?? 0)
  const name = value.toString('latin1', headerBytes + 1, nameEnd)
  const key = keys.get(name)
  if (key === undefined) throw new Error(`no key has the name ${name}`)
  const textBegin = nameEnd + nonceBytes
  const decipher = createDecipheriv('aes-256-gcm', key.key, value.subarray(nameEnd, textBegin), {
    authTagLength: tagBytes,
  })
  const about = Buffer.from(`${place.topic}\n${place.key}`)
  decipher.setAAD(Buffer.concat([value.subarray(0, nameEnd), about]))
  decipher.setAuthTag(value.subarray(-tagBytes))
  const text = decipher.update(value.subarray(textBegin, -tagBytes))
  const plain = Buffer.concat([text, decipher.final()])
  if (plain[0] !== envelope) return { value: plain, encryptedWith: key.of }
  const outlineBytes = plain.readUInt32BE(headerBytes)
  return decrypt(keys, place, plain.subarray(headerBytes + 4 + outlineBytes))
}
