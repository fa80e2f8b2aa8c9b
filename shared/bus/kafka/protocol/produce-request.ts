// A produce request with at most one batch for each partition. Each batch is acknowledged
// separately. acks is -1: all in-sync replicas have the record.

import type { Offset } from '../../../contract/bus.ts'
import type { Milliseconds } from '../../../lib/clock.ts'
import type { RawRequest } from '../driver.ts'
import { WireReader, WireWriter } from './wire.ts'

export type Produced = {
  topic: string
  partition: number
  errorCode: number
  baseOffset: Offset
  appendTime: Milliseconds | undefined
}

/** How long the broker may wait for the replicas. */
const brokerWaitMs = 15_000

/** Version 7, in Kafka since 2.1. `appendTime` is undefined if the topic has no LogAppendTime. */
export function produceRequest(
  batches: { topic: string; partition: number; batch: Buffer }[],
): RawRequest<Produced[]> {
  const topics = Map.groupBy(batches, ({ topic }) => topic)
  let size = 2 + 2 + 4 + 4
  for (const [topic, inTopic] of topics) {
    size += 2 + Buffer.byteLength(topic) + 4
    for (const { batch } of inTopic) size += 8 + batch.length
  }
  const writer = new WireWriter(size)
  writer.int16(-1).int16(-1).int32(brokerWaitMs).int32(topics.size)
  for (const [topic, inTopic] of topics) {
    writer.string(topic).int32(inTopic.length)
    for (const { partition, batch } of inTopic)
      writer.int32(partition).int32(batch.length).raw(batch)
  }
  return { apiKey: 0, apiVersion: 7, apiName: 'Produce', body: writer.written(), decode }
}

function decode(payload: Buffer): Produced[] {
  const reader = new WireReader(payload)
  const answers = reader.array(() => {
    const topic = reader.string()
    return reader.array(() => {
      const partition = reader.int32()
      const errorCode = reader.int16()
      const baseOffset = reader.int64()
      const appendTime = reader.int64()
      reader.int64() // where the log starts
      return {
        topic,
        partition,
        errorCode,
        baseOffset,
        appendTime: appendTime < 0 ? undefined : appendTime,
      }
    })
  })
  const clientSideThrottleTime = reader.int32() // kafkajs reads it, and waits before its next request
  return Object.assign(answers.flat(), { clientSideThrottleTime })
}
