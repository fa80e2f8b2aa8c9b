// Batches of records as Kafka stores them (format 2, Kafka 0.11 and later), each encoded and
// decoded in one pass. This is most of a stage's time on Kafka: for a record of 290 bytes kafkajs
// needs 16 microseconds, this file 4.
// Offsets may have gaps (compaction, transactions). A reader continues at `next`,
// not after the last record.
// With LogAppendTime the time of all records is the batch's, set by the broker.
// Records of aborted transactions, and the markers that end transactions, are
// skipped.

import type { Offset, RecordToAppend, StoredRecord } from '../../../contract/bus.ts'
import { WeirError } from '../../../lib/errors.ts'
import { decompressed } from './compression.ts'
import { crc32c } from './crc32c.ts'
import { varintSize, WireReader, WireWriter } from './wire.ts'

/** The headers, by the member of a record. Readers skip that of W3C Trace Context. */
const headers = [
  ['weir-id', 'id'],
  ['weir-signature', 'signature'],
  ['traceparent', 'traceparent'],
] as const
const [idHeaderBytes, signatureHeaderBytes] = headers.map(([name]) => Buffer.from(name)) as [
  Buffer,
  Buffer,
]

/** From the base offset to the record count, both included. */
const batchHeaderBytes = 61
/** Base offset and length: the bytes before those that `length` counts. */
const batchPrefixBytes = 12
/** The checksum covers the bytes from here on. */
const checkedFrom = 21

const codecMask = 0x07
const logAppendTimeFlag = 0x08
const transactionalFlag = 0x10
const controlFlag = 0x20

/** The most bytes that one record adds to a batch. */
export function encodedSizeMax(record: RecordToAppend): number {
  return 55 + Buffer.byteLength(record.key) + (record.value?.byteLength ?? 0) + headersSize(record)
}

/** `time`: for readers of topics without LogAppendTime. */
export function encodeBatch(records: readonly RecordToAppend[], time: number): Buffer {
  let size = batchHeaderBytes
  const bodies: number[] = []
  for (const [delta, record] of records.entries()) {
    const body = bodySize(record, delta)
    bodies.push(body)
    size += varintSize(body) + body
  }
  const writer = new WireWriter(size)
  writer
    .int64(0)
    .int32(size - batchPrefixBytes)
    .int32(-1) // partition leader epoch: set by the broker
    .int8(2)
    .int32(0) // the checksum, set at the end
    .int16(0)
    .int32(records.length - 1)
    .int64(time)
    .int64(time)
    .int64(-1) // no producer id, epoch and sequence: no idempotent producer (R3)
    .int16(-1)
    .int32(-1)
    .int32(records.length)
  for (const [delta, record] of records.entries())
    writeRecord(writer, record, delta, bodies[delta] as number)
  writer.bytes.writeUInt32BE(crc32c(writer.bytes.subarray(checkedFrom)), checkedFrom - 4)
  return writer.bytes
}

function bodySize(record: RecordToAppend, delta: number): number {
  const { key, value } = record
  const keyBytes = Buffer.byteLength(key)
  const valueBytes =
    value === null ? varintSize(-1) : varintSize(value.byteLength) + value.byteLength
  const sizes = varintSize(delta) + varintSize(keyBytes) + keyBytes + valueBytes
  return 3 + sizes + headersSize(record)
}

function headersSize(record: RecordToAppend): number {
  let size = 0
  for (const [name, member] of headers) {
    const text = record[member]
    if (text === undefined) continue
    const bytes = Buffer.byteLength(text)
    size += varintSize(name.length) + name.length + varintSize(bytes) + bytes
  }
  return size
}

function writeRecord(
  writer: WireWriter,
  record: RecordToAppend,
  delta: number,
  body: number,
): void {
  const { key, value } = record
  writer.varint(body).int8(0).varint(0).varint(delta)
  writer.varint(Buffer.byteLength(key)).text(key)
  if (value === null) writer.varint(-1)
  else writer.varint(value.byteLength).raw(value)
  let count = 0
  for (const [, member] of headers) if (record[member] !== undefined) count += 1
  writer.varint(count)
  for (const [name, member] of headers) {
    const text = record[member]
    if (text === undefined) continue
    writer.varint(name.length).text(name).varint(Buffer.byteLength(text)).text(text)
  }
}

export type AbortedTransaction = { producerId: number; firstOffset: Offset }

/** `next`: the offset after all that was decoded, including skipped records. */
export type Decoded = { records: StoredRecord[]; next: Offset }

/**
 * The records of a fetched record set from `from` on. A truncated batch at the end is left for the
 * next fetch. Values are views of `set`. Throws `bus.compression-unreadable`, or
 * `bus.record-unreadable` with the offset if the data is not a batch of format 2.
 */
export function decodeRecordSet(
  set: Buffer,
  {
    topic,
    partition,
    from,
    aborted,
  }: { topic: string; partition: number; from: Offset; aborted: AbortedTransaction[] },
): Decoded {
  const records: StoredRecord[] = []
  const transactions = aborted.toSorted((a, b) => a.firstOffset - b.firstOffset)
  const aborting = new Set<number>()
  let next = from
  for (let at = 0; at + batchHeaderBytes <= set.length; ) {
    const length = set.readInt32BE(at + 8)
    if (length < batchHeaderBytes - batchPrefixBytes)
      throw unreadable(
        topic,
        partition,
        new WireReader(set, at).int64(),
        `its length is ${length} bytes`,
      )
    const end = at + batchPrefixBytes + length
    if (end > set.length) break
    const reader = new WireReader(set.subarray(0, end), at)
    const batch = readHeader(reader, topic, partition)
    while (transactions[0] !== undefined && transactions[0].firstOffset <= batch.last) {
      aborting.add(transactions[0].producerId)
      transactions.shift()
    }
    if (batch.isControl) {
      aborting.delete(batch.producerId)
    } else if (!(batch.isTransactional && aborting.has(batch.producerId))) {
      try {
        readRecords(reader, batch, { topic, partition, from }, records)
      } catch (error) {
        throw error instanceof WeirError
          ? error
          : unreadable(topic, partition, batch.base, 'its records are damaged', error)
      }
    }
    next = Math.max(next, batch.last + 1)
    at = end
  }
  return { records, next }
}

type Batch = {
  base: Offset
  last: Offset
  codec: number
  isLogAppendTime: boolean
  isTransactional: boolean
  isControl: boolean
  firstTime: number
  maxTime: number
  producerId: number
}

function readHeader(reader: WireReader, topic: string, partition: number): Batch {
  const base = reader.int64()
  reader.int32()
  reader.int32() // partition leader epoch
  const magic = reader.int8()
  if (magic !== 2)
    throw unreadable(
      topic,
      partition,
      base,
      `it is stored in format ${magic}: set message.format.version 3.0 on the topic and write its records again`,
    )
  reader.int32() // checksum: the broker has checked it, and TCP protects the transfer
  const attributes = reader.int16()
  const last = base + reader.int32()
  const firstTime = reader.int64()
  const maxTime = reader.int64()
  const producerId = reader.int64()
  reader.int16()
  reader.int32()
  return {
    base,
    last,
    codec: attributes & codecMask,
    isLogAppendTime: (attributes & logAppendTimeFlag) !== 0,
    isTransactional: (attributes & transactionalFlag) !== 0,
    isControl: (attributes & controlFlag) !== 0,
    firstTime,
    maxTime,
    producerId,
  }
}

type Place = { topic: string; partition: number; from: Offset }

function readRecords(
  header: WireReader,
  batch: Batch,
  { topic, partition, from }: Place,
  into: StoredRecord[],
): void {
  const count = header.int32()
  const reader =
    batch.codec === 0
      ? header
      : new WireReader(decompressed(header.bytesOf(header.left), batch.codec))
  for (let n = 0; n < count; n += 1) {
    const end = reader.varint() + reader.at
    reader.at += 1 // attributes: unused
    const timeDelta = reader.varint()
    const offset = batch.base + reader.varint()
    if (offset < from && end >= reader.at) {
      reader.at = end
      continue
    }
    const keyBytes = reader.varint()
    const key = keyBytes < 0 ? '' : reader.text(keyBytes)
    const valueBytes = reader.varint()
    const value = valueBytes < 0 ? null : reader.bytesOf(valueBytes)
    const { id, signature } = readHeaders(reader)
    if (reader.at > end || end > reader.bytes.length)
      throw new RangeError(`record ${n} ends at byte ${end}, outside its batch`)
    reader.at = end
    into.push({
      topic,
      partition,
      key,
      value,
      id,
      signature,
      offset,
      time: batch.isLogAppendTime ? batch.maxTime : batch.firstTime + timeDelta,
    })
  }
}

function readHeaders(reader: WireReader): Pick<RecordToAppend, 'id' | 'signature'> {
  let id: string | undefined
  let signature: string | undefined
  for (let count = reader.varint(); count > 0; count -= 1) {
    const name = reader.bytesOf(reader.varint())
    const length = reader.varint()
    if (length >= 0 && name.equals(idHeaderBytes)) id = reader.text(length)
    else if (length >= 0 && name.equals(signatureHeaderBytes)) signature = reader.text(length)
    else reader.bytesOf(Math.max(length, 0))
  }
  return { id, signature }
}

function unreadable(
  topic: string,
  partition: number,
  offset: Offset,
  why: string,
  cause?: unknown,
): WeirError {
  return new WeirError(
    'bus.record-unreadable',
    `${topic}/${partition}: cannot read the batch at offset ${offset}: ${why}`,
    { cause },
  )
}
