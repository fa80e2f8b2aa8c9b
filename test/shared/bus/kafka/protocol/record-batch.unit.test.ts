import { createRequire } from 'node:module'
import { gzipSync, zstdCompressSync } from 'node:zlib'
import { describe, expect, it } from '@jest/globals'
import {
  decodeRecordSet,
  encodeBatch,
  encodedSizeMax,
} from '../../../../../shared/bus/kafka/protocol/record-batch.ts'
import type { RecordToAppend } from '../../../../../shared/contract/bus.ts'
import { WeirError } from '../../../../../shared/lib/errors.ts'
import { bytesOf, textOf } from '../../recording-readers.ts'

const place = { topic: 't', partition: 3, from: 0, aborted: [] }

function record(
  text: string | null,
  named: Partial<Pick<RecordToAppend, 'key' | 'id' | 'signature' | 'traceparent'>> = {},
): RecordToAppend {
  const value = text === null ? null : bytesOf(text)
  return { topic: 't', partition: 3, key: 'conversation', value, ...named }
}

/** A batch as in a log, with its offset and the other fields of its header. */
function stored(
  batch: Buffer,
  header: {
    base?: number
    attributes?: number
    maxTime?: number
    producerId?: number
    lastDelta?: number
  } = {},
): Buffer {
  const copy = Buffer.from(batch)
  copy.writeBigInt64BE(BigInt(header.base ?? 0), 0)
  if (header.attributes !== undefined) copy.writeInt16BE(header.attributes, 21)
  if (header.lastDelta !== undefined) copy.writeInt32BE(header.lastDelta, 23)
  if (header.maxTime !== undefined) copy.writeBigInt64BE(BigInt(header.maxTime), 35)
  if (header.producerId !== undefined) copy.writeBigInt64BE(BigInt(header.producerId), 43)
  return copy
}

function compressed(batch: Buffer, codec: number, compress: (bytes: Buffer) => Buffer): Buffer {
  const body = compress(batch.subarray(61))
  const whole = Buffer.concat([batch.subarray(0, 61), body])
  whole.writeInt32BE(whole.length - 12, 8)
  return stored(whole, { attributes: codec })
}

describe('a batch of records', () => {
  it('is read as it was written: keys, values, tombstones, empty values and ids', () => {
    const records = [
      record('first', { id: 'validator/3/12345/0' }),
      record(null, { key: 'gespräch "1" 🪣' }),
      record('', { key: '' }),
      record('x'.repeat(100_000)),
    ]
    const { records: read, next } = decodeRecordSet(
      stored(encodeBatch(records, 1000), { base: 500 }),
      { ...place, from: 500 },
    )
    expect(read.map(({ key, id, offset, time }) => ({ key, id, offset, time }))).toEqual([
      { key: 'conversation', id: 'validator/3/12345/0', offset: 500, time: 1000 },
      { key: 'gespräch "1" 🪣', id: undefined, offset: 501, time: 1000 },
      { key: '', id: undefined, offset: 502, time: 1000 },
      { key: 'conversation', id: undefined, offset: 503, time: 1000 },
    ])
    expect(read.map(({ value }) => value?.byteLength)).toEqual([5, undefined, 0, 100_000])
    expect(next).toBe(504)
  })

  it('is readable by kafkajs and has a valid checksum', async () => {
    const require = createRequire(import.meta.url)
    const Decoder = require('kafkajs/src/protocol/decoder')
    const decode = require('kafkajs/src/protocol/recordBatch/v0/decoder')
    const crc = require('kafkajs/src/protocol/recordBatch/crc32C/crc32C')
    const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01'
    const named = { id: 'x/0/1/2', traceparent }
    const batch = encodeBatch([record('a', named), record(null)], 77)
    const { records } = await decode(new Decoder(batch))
    expect(
      records.map((each: { key: Buffer; value: Buffer | null }) => [
        each.key.toString(),
        each.value?.toString(),
      ]),
    ).toEqual([
      ['conversation', 'a'],
      ['conversation', undefined],
    ])
    expect(records[0].headers['weir-id'].toString()).toBe('x/0/1/2')
    expect(records[0].headers.traceparent.toString()).toBe(traceparent)
    expect(records[0].timestamp).toBe('77')
    expect(batch.readUInt32BE(17)).toBe(crc(batch.subarray(21)))
  })

  it('is no larger than its computed size', () => {
    for (const each of [
      record('a'),
      record(null),
      record('x'.repeat(5000), { key: 'ü'.repeat(300), id: 'loop-detector/499/123456789/12' }),
      record('a', { signature: 's'.repeat(60), traceparent: 't'.repeat(55) }),
    ]) {
      expect(encodeBatch([each], 0).length - 61).toBeLessThanOrEqual(encodedSizeMax(each))
    }
  })

  it("has the broker's timestamp if the topic has LogAppendTime", () => {
    const set = stored(encodeBatch([record('a'), record('b')], 1), { attributes: 8, maxTime: 5000 })
    expect(decodeRecordSet(set, place).records.map(({ time }) => time)).toEqual([5000, 5000])
  })

  it('starts at the requested offset, also within a batch', () => {
    const set = stored(encodeBatch([record('a'), record('b'), record('c')], 1), { base: 10 })
    expect(decodeRecordSet(set, { ...place, from: 11 }).records.map(textOf)).toEqual(['b', 'c'])
  })

  it('leaves a truncated batch for the next fetch', () => {
    const whole = stored(encodeBatch([record('a')], 1))
    const cut = stored(encodeBatch([record('b')], 1), { base: 1 })
    for (const length of [3, 30, cut.length - 1]) {
      const { records, next } = decodeRecordSet(
        Buffer.concat([whole, cut.subarray(0, length)]),
        place,
      )
      expect([records.map(textOf), next]).toEqual([['a'], 1])
    }
  })

  it('continues after a gap of compaction', () => {
    const set = Buffer.concat([
      stored(encodeBatch([record('a')], 1), { base: 4 }),
      stored(encodeBatch([], 1), { base: 5, lastDelta: 6 }),
    ])
    expect(decodeRecordSet(set, place)).toMatchObject({ records: [{ offset: 4 }], next: 12 })
  })

  it.each([
    ['gzip', 1, (bytes: Buffer) => gzipSync(bytes)],
    ['zstd', 4, (bytes: Buffer) => zstdCompressSync(bytes)],
  ])('is read if compressed with %s', (_, codec, compress) => {
    const set = compressed(
      encodeBatch([record('a', { id: 'x/0/1/2' }), record('b')], 1),
      codec,
      compress,
    )
    expect(decodeRecordSet(set, place).records.map((each) => [textOf(each), each.id])).toEqual([
      ['a', 'x/0/1/2'],
      ['b', undefined],
    ])
  })

  it.each([
    ['snappy', 2],
    ['lz4', 3],
  ])('is rejected by name if compressed with %s', (name, codec) => {
    const set = compressed(encodeBatch([record('a')], 1), codec, (bytes) => bytes)
    expect(() => decodeRecordSet(set, place)).toThrow(
      expect.objectContaining({ code: 'bus.compression-unreadable' }),
    )
    expect(() => decodeRecordSet(set, place)).toThrow(name)
  })

  it('is rejected if it would fill the memory', () => {
    const set = compressed(encodeBatch([record('a')], 1), 1, () =>
      gzipSync(Buffer.alloc(200 * 1024 * 1024)),
    )
    expect(set.length).toBeLessThan(300_000)
    expect(() => decodeRecordSet(set, place)).toThrow(
      expect.objectContaining({ code: 'bus.compression-unreadable' }),
    )
  })

  it('is rejected with its offset if it is damaged or in an old format', () => {
    const damaged = stored(encodeBatch([record('a')], 1), { base: 7 })
    damaged[61] = 0xff
    damaged[62] = 0xff
    const endless = stored(encodeBatch([record('a')], 1), { base: 7 })
    endless.writeInt32BE(-12, 8)
    const old = stored(encodeBatch([record('a')], 1), { base: 7 })
    old[16] = 1
    for (const set of [damaged, endless, old]) {
      const decode = () => decodeRecordSet(set, place)
      expect(decode).toThrow(WeirError)
      expect(decode).toThrow('t/3: cannot read the batch at offset 7')
    }
  })

  it('skips aborted transactions and the markers that end them', () => {
    const transactional = 0x10
    const control = 0x20
    const from = (producerId: number, text: string, base: number) =>
      stored(encodeBatch([record(text)], 1), { base, producerId, attributes: transactional })
    const mark = (producerId: number, base: number) =>
      stored(encodeBatch([record('mark')], 1), {
        base,
        producerId,
        attributes: transactional | control,
      })
    const set = Buffer.concat([
      from(1, 'aborted', 0),
      from(2, 'other', 1),
      mark(1, 2),
      from(1, 'committed', 3),
      mark(1, 4),
      from(2, 'aborted later', 5),
      mark(2, 6),
    ])
    const aborted = [
      { producerId: 2, firstOffset: 5 },
      { producerId: 1, firstOffset: 0 },
    ]
    const { records, next } = decodeRecordSet(set, { ...place, aborted })
    expect([records.map(textOf), next]).toEqual([['other', 'committed'], 7])
  })
})
