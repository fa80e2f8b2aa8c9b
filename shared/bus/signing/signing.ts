// Signs records and checks them. The signature is `WRITER KEY-ID HMAC`, with an HMAC-SHA-256 in
// base64 over writer, topic, partition, id, key and value.
// A reader accepts only a writer that the topology allows for the record's type in this
// topic. A derived record's signer is the stage in its id.
// A process checks the topics for which it has keys. The bus signs every written record, or does
// not write.

import { createHmac, type KeyObject } from 'node:crypto'
import { typeIn } from '../../codec/codec.ts'
import type { RecordToAppend } from '../../contract/bus.ts'
import type { MessageType } from '../../contract/messages.ts'
import { guardTopicName, nameWithoutPrefix, stages } from '../../contract/topology.ts'
import { WeirError } from '../../lib/errors.ts'
import type { RecordKey, RecordKeys } from './keys.ts'
import { signersOf } from './principals.ts'

export type Signing = {
  /** The record with its signature. Throws `settings.invalid` without a key. */
  signed(record: RecordToAppend): RecordToAppend
  /** Whether this process checks the topic, which is given with its prefix. */
  checks(topic: string): boolean
  /** The reason to refuse a record of a checked topic. Undefined: its signature is right. */
  faultOf(record: RecordToAppend): string | undefined
}

type Place = {
  name: string
  writes: ReadonlyMap<string, readonly RecordKey[]>
  reads: ReadonlyMap<string, readonly RecordKey[]>
  checks: boolean
}

export function createSigning({ writes, reads }: RecordKeys, topicPrefix: string): Signing {
  /** By the topic with its prefix: every record looks here. */
  const places = new Map<string, Place>()

  return {
    signed(record) {
      const { name, writes } = placeOf(record.topic)
      for (const [writer, [key]] of writes)
        if (key !== undefined && maySign(name, record, writer))
          return { ...record, signature: `${writer} ${key.name} ${macOf(key.key, writer, record)}` }
      throw new WeirError(
        'bus.unauthorized',
        `this process has no key to sign a record for ${record.topic}: recordSigning names the keys of another principal`,
      )
    },

    checks: (topic) => placeOf(topic).checks,

    faultOf(record) {
      if (record.signature === undefined) return 'it has no signature'
      const { signature } = record
      const afterWriter = signature.indexOf(' ')
      const afterId = signature.indexOf(' ', afterWriter + 1)
      const writer = signature.slice(0, Math.max(0, afterWriter))
      const { name, reads } = placeOf(record.topic)
      if (!maySign(name, record, writer))
        return `it is signed by ${JSON.stringify(writer.slice(0, 80))}, which may not write it here`
      const known = reads
        .get(writer)
        ?.find((key) => signature.slice(afterWriter + 1, afterId) === key.name)
      if (known === undefined) return `it is signed with a key of ${writer} that is not valid here`
      return isSame(macOf(known.key, writer, record), signature.slice(afterId + 1))
        ? undefined
        : `its signature does not fit: its content, place or writer is not what ${writer} signed`
    },
  }

  function placeOf(topic: string): Place {
    const known = places.get(topic)
    if (known !== undefined) return known
    const name = nameWithoutPrefix(topic, topicPrefix) ?? topic
    // A guard without keys in the executor's file is not believed.
    const isOfGuard = name.startsWith(guardTopicName('')) && reads.has(stages.executor.inbox)
    const place = {
      name,
      writes: writes.get(name) ?? none,
      reads: reads.get(name) ?? none,
      checks: reads.has(name) || isOfGuard,
    }
    places.set(topic, place)
    return place
  }
}

const none: ReadonlyMap<string, readonly RecordKey[]> = new Map()

function maySign(topic: string, { value, id }: RecordToAppend, writer: string): boolean {
  const type = value === null ? 'tombstone' : typeIn(value)
  if (type === undefined || !signersOf(topic, type as MessageType).includes(writer)) return false
  return id === undefined || (id.startsWith(writer) && id[writer.length] === '/')
}

/** The lengths stand before the texts, so no two records have the same bytes. */
function macOf(
  secret: KeyObject,
  writer: string,
  { topic, partition, key, id = '', value }: RecordToAppend,
): string {
  const lengths = `${Buffer.byteLength(id)}\n${Buffer.byteLength(key)}\n`
  const kind = value === null ? 'tombstone' : 'value'
  const mac = createHmac('sha256', secret)
  mac.update(`${writer}\n${topic}\n${partition}\n${lengths}${kind}\n${id}${key}`)
  if (value !== null) mac.update(value)
  return mac.digest('base64')
}

/** Takes the same time for every difference. Two buffers for `timingSafeEqual` take four times as long. */
function isSame(a: string, b: string): boolean {
  let difference = a.length ^ b.length
  for (let at = 0; at < a.length; at += 1) difference |= a.charCodeAt(at) ^ b.charCodeAt(at)
  return difference === 0
}
