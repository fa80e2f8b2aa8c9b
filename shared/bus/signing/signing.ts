// Signs records and checks them. The signature is `WRITER KEY-ID HMAC`, with an HMAC-SHA-256 in
// base64 over writer, topic, partition, id, key and value.
// SIGNING-1. A reader accepts only a writer that the topology allows for the record's type in this
//     topic. A derived record's signer is the stage in its id.
// SIGNING-2. A process checks the topics for which it has keys. It signs every record that it
//     writes, or it does not write it.

import { createHmac, type KeyObject, timingSafeEqual } from 'node:crypto'
import { typeIn } from '../../codec/codec.ts'
import type { RecordToAppend } from '../../contract/bus.ts'
import type { MessageType } from '../../contract/messages.ts'
import { guardTopicName, stages } from '../../contract/topology.ts'
import { WeirError } from '../../lib/errors.ts'
import type { RecordKeys } from './keys.ts'
import { signersOf } from './principals.ts'

export type Signing = {
  /** The record with its signature. Throws `settings.invalid` without a key. */
  signed(record: RecordToAppend): RecordToAppend
  /** Whether this process checks the topic, which is given with its prefix. */
  checks(topic: string): boolean
  /** The reason to refuse a record of a checked topic. Undefined: its signature is right. */
  faultOf(record: RecordToAppend): string | undefined
}

export function createSigning({ writes, reads }: RecordKeys, topicPrefix: string): Signing {
  const bare = (topic: string) =>
    topic.startsWith(topicPrefix) ? topic.slice(topicPrefix.length) : topic

  return {
    signed(record) {
      const topic = bare(record.topic)
      const writer = allowedSigners(topic, record).find((name) => writes.get(topic)?.has(name))
      const key = writer === undefined ? undefined : writes.get(topic)?.get(writer)?.[0]
      if (writer === undefined || key === undefined)
        throw new WeirError(
          'settings.invalid',
          `this process has no key to sign a record for ${record.topic}: recordSigning names the keys of another principal`,
        )
      return { ...record, signature: `${writer} ${key.id} ${macOf(key.key, writer, record)}` }
    },

    checks(topic) {
      const isOfGuard = bare(topic).startsWith(guardTopicName(''))
      // A guard without keys in the executor's file is not believed.
      return reads.has(bare(topic)) || (isOfGuard && reads.has(stages.executor.inbox))
    },

    faultOf(record) {
      if (record.signature === undefined) return 'it has no signature'
      const [writer = '', id, mac = ''] = record.signature.split(' ')
      const topic = bare(record.topic)
      const allowed = allowedSigners(topic, record)
      if (!allowed.includes(writer))
        return `it is signed by ${JSON.stringify(writer.slice(0, 80))}, and may come from ${allowed.join(', ') || 'nobody'}`
      const known = reads.get(topic)?.get(writer)?.find((key) => String(key.id) === id)
      if (known === undefined) return `it is signed with a key of ${writer} that is not valid here`
      return isSame(macOf(known.key, writer, record), mac)
        ? undefined
        : `its signature does not fit: its content, place or writer is not what ${writer} signed`
    },
  }
}

/** Keeps SIGNING-1. */
function allowedSigners(topic: string, { value, id }: RecordToAppend): readonly string[] {
  const type = value === null ? 'tombstone' : typeIn(value)
  const all = type === undefined ? [] : signersOf(topic, type as MessageType)
  if (id === undefined) return all
  const stage = id.slice(0, Math.max(0, id.indexOf('/')))
  return all.filter((name) => name === stage)
}

/** The lengths stand before the texts, so no two records have the same bytes. */
function macOf(
  key: KeyObject,
  writer: string,
  { topic, partition, key: recordKey, id = '', value }: RecordToAppend,
): string {
  const lengths = `${Buffer.byteLength(id)}\n${Buffer.byteLength(recordKey)}\n`
  const kind = value === null ? 'tombstone' : 'value'
  const mac = createHmac('sha256', key).update(
    `${writer}\n${topic}\n${partition}\n${lengths}${kind}\n${id}${recordKey}`,
  )
  if (value !== null) mac.update(value)
  return mac.digest('base64')
}

function isSame(a: string, b: string): boolean {
  const [one, other] = [Buffer.from(a), Buffer.from(b)]
  return one.length === other.length && timingSafeEqual(one, other)
}
