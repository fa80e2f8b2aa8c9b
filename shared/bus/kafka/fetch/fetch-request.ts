// A fetch request for any number of partitions, each from its own offset. The broker responds as
// soon as one of them has records.

import type { Offset } from '../../../contract/bus.ts'
import type { Milliseconds } from '../../../lib/clock.ts'
import type { RawRequest } from '../driver.ts'
import type { AbortedTransaction } from '../protocol/record-batch.ts'
import { WireReader, WireWriter } from '../protocol/wire.ts'

export type FetchFrom = { topic: string; partition: number; from: Offset }

export type FetchedPartition = {
  topic: string
  partition: number
  errorCode: number
  /** The end of the committed records; -1 with an error. */
  end: Offset
  begin: Offset
  aborted: AbortedTransaction[]
  set: Buffer
}

export type FetchLimits = { waitMs: Milliseconds; bytesMax: number; partitionBytesMax: number }

/** 1: skips the records of open and aborted transactions. */
export const readCommitted = 1

/**
 * Version 11, in Kafka since 2.3. The first batch of a partition is always whole, even above the
 * limits.
 */
export function fetchRequest(
  partitions: FetchFrom[],
  { waitMs, bytesMax, partitionBytesMax }: FetchLimits,
): RawRequest<FetchedPartition[]> {
  const topics = Map.groupBy(partitions, ({ topic }) => topic)
  let size = 4 * 4 + 1 + 4 + 4 + 4 + 4 + 2
  for (const [topic, inTopic] of topics)
    size += 2 + Buffer.byteLength(topic) + 4 + inTopic.length * 28
  const writer = new WireWriter(size)
  writer.int32(-1).int32(waitMs).int32(1).int32(bytesMax).int8(readCommitted)
  writer.int32(0).int32(-1) // no session
  writer.int32(topics.size)
  for (const [topic, inTopic] of topics) {
    writer.string(topic).int32(inTopic.length)
    for (const { partition, from } of inTopic)
      writer.int32(partition).int32(-1).int64(from).int64(-1).int32(partitionBytesMax)
  }
  writer.int32(0).string('')
  return { apiKey: 1, apiVersion: 11, apiName: 'Fetch', body: writer.written(), decode }
}

function decode(payload: Buffer): FetchedPartition[] {
  const reader = new WireReader(payload)
  const clientSideThrottleTime = reader.int32()
  const errorCode = reader.int16()
  reader.int32()
  const fetched = reader.array(() => {
    const topic = reader.string()
    return reader.array((): FetchedPartition => {
      const partition = reader.int32()
      const partitionError = reader.int16()
      reader.int64() // the end of all records
      const end = reader.int64()
      const begin = reader.int64()
      const aborted = reader.array(() => ({
        producerId: reader.int64(),
        firstOffset: reader.int64(),
      }))
      reader.int32() // a nearer replica: Weir reads from leaders only
      const set = reader.bytesOf(Math.max(reader.int32(), 0))
      return {
        topic,
        partition,
        errorCode: errorCode === 0 ? partitionError : errorCode,
        end,
        begin,
        aborted,
        set,
      }
    })
  })
  return Object.assign(fetched.flat(), { clientSideThrottleTime })
}
