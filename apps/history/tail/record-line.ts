// A record as one line of JSON. Whatever stands in the topic has a line; bytes that are no message
// of this Weir say why.

import { decode } from '../../../shared/codec/codec.ts'
import type { StoredRecord } from '../../../shared/contract/bus.ts'
import type { Message } from '../../../shared/contract/messages.ts'
import { WeirError } from '../../../shared/lib/errors.ts'
import { printableJson } from '../../terminal/printable.ts'

/**
 * What `weir tail` prints on each line. `time`: the append time. Bytes in a message are in base64.
 */
export type RecordLine = {
  topic: string
  partition: number
  offset: number
  time: string
  key: string
  /** Of a derived record; null: an observed one. */
  id: string | null
  /** Null: a tombstone, or undecodable. */
  type: Message['type'] | null
  message: Message | null
  /** Only where it cannot be decoded. `base64`: the first bytes of it. */
  undecodable?: { code: string; reason: string; bytes: number; base64: string }
}

const shownBytesMax = 1024

export type Content = Pick<RecordLine, 'type' | 'message' | 'undecodable'>

/** Never throws. */
export function contentOf(value: Uint8Array | null): Content {
  if (value === null) return { type: null, message: null }
  try {
    const message = decode(value)
    return { type: message.type, message }
  } catch (error) {
    const base64 = Buffer.from(value.subarray(0, shownBytesMax)).toString('base64')
    const code = error instanceof WeirError ? error.code : 'codec.bad-body'
    const reason = error instanceof Error ? error.message : String(error)
    return { type: null, message: null, undecodable: { code, reason, bytes: value.length, base64 } }
  }
}

export function lineOf(
  { topic, partition, offset, time, key, id }: StoredRecord,
  content: Content,
): string {
  const line: RecordLine = {
    topic,
    partition,
    offset,
    time: new Date(time).toISOString(),
    key,
    id: id ?? null,
    ...content,
  }
  return `${printableJson(readable(line))}\n`
}

/** JSON.stringify would write bytes as a list of numbers. */
function readable({ message, ...line }: RecordLine): object {
  if (message?.type !== 'dead-letter') return { ...line, message }
  return { ...line, message: { ...message, value: Buffer.from(message.value).toString('base64') } }
}
