// A record as one line of JSON. Every record has a line; undecodable bytes have their reason in it.

import { decode } from '../../../shared/codec/codec.ts'
import type { StoredRecord } from '../../../shared/contract/bus.ts'
import type { Message } from '../../../shared/contract/messages.ts'
import { WeirError } from '../../../shared/lib/errors.ts'
import { printableJson } from '../../terminal/text/printable.ts'

/**
 * `weir tail` prints one of these per line. `time`: the append time. Bytes in a message are base64.
 */
export type RecordLine = {
  topic: string
  partition: number
  offset: number
  time: string
  key: string
  /** The id of a derived record. Null: an observed record. */
  id: string | null
  /** Null: a tombstone, or undecodable. */
  type: Message['type'] | null
  message: Message | null
  /** Only if it cannot be decoded. `base64`: its first bytes. */
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
