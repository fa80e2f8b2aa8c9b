// A raw relay: kafkajs's own consumer and producer and avsc, without the other parts of a stage: no
// marks, checks, state or reducer. It writes the validator's output for a good call, with the same
// header.

import { readFileSync } from 'node:fs'
import avro from 'avsc'
import type { KafkaMessage, Message } from 'kafkajs'
import { openKafka, partitions } from './kafka-topics.ts'
import type { OpenRelay } from './relay-options.ts'

type LockEntry = { id: number; type: string; version: number; schema: avro.Schema }

const lock = JSON.parse(
  readFileSync(new URL('../../schemas/lock.json', import.meta.url), 'utf8'),
) as LockEntry[]
const headerBytes = 5
const scratch = Buffer.alloc(1024 * 1024)
/** As many as a stage applies in one step. */
const batchRecordsMax = 1_000

export const openKafkajs: OpenRelay = async ({ bootstrapServers, topicPrefix }, done) => {
  const [proposed, checked] = [newestOf('round-proposed'), newestOf('round-checked')]
  const kafka = openKafka(bootstrapServers)
  const consumer = kafka.consumer({
    groupId: `${topicPrefix}relay`,
    maxWaitTimeInMs: 500,
    maxBytes: 8 * 1024 * 1024,
  })
  const producer = kafka.producer({ allowAutoTopicCreation: false })
  const { promise: failed, reject } = Promise.withResolvers<never>()
  failed.catch(() => {})
  consumer.on(consumer.events.CRASH, ({ payload }) => reject(payload.error))
  const joined = new Promise<void>((resolve) =>
    consumer.on(consumer.events.GROUP_JOIN, () => resolve()),
  )
  await Promise.all([consumer.connect(), producer.connect()])
  await consumer.subscribe({ topics: [`${topicPrefix}rounds-proposed`], fromBeginning: true })

  await consumer.run({
    partitionsConsumedConcurrently: partitions,
    autoCommitInterval: 250, // as a stage
    async eachBatch({ batch: { partition, messages }, heartbeat, resolveOffset }) {
      for (let from = 0; from < messages.length; from += batchRecordsMax) {
        const step = messages.slice(from, from + batchRecordsMax)
        await producer.send({
          topic: `${topicPrefix}rounds-checked`,
          acks: -1,
          messages: step.map((message) => relayed(message, partition)),
        })
        resolveOffset(step.at(-1)?.offset ?? '')
        done(step.length)
        await heartbeat()
      }
    },
  })
  await joined

  function relayed({ key, value, headers }: KafkaMessage, partition: number): Message {
    const round = proposed.type.fromBuffer((value as Buffer).subarray(headerBytes))
    const {
      conversation,
      turn,
      response,
      failure,
      declarations,
      agent,
      policy,
      callsLeft,
      expiresAt,
    } = round
    const message = {
      conversation,
      turn,
      round: round.round,
      response,
      failure,
      rejections: [],
      declarations,
      agent,
      policy,
      callsLeft,
      expiresAt,
    }
    const end = checked.type.encode(message, scratch, headerBytes)
    scratch.writeUInt8(0, 0)
    scratch.writeInt32BE(checked.id, 1)
    return {
      key,
      value: Buffer.from(scratch.subarray(0, end)),
      partition,
      headers: { 'weir-id': headers?.['weir-id'] },
    }
  }

  return {
    failed,
    async close() {
      await consumer.disconnect()
      await producer.disconnect()
    },
  }
}

function newestOf(type: string): { id: number; type: avro.Type } {
  const entry = lock
    .filter((each) => each.type === type)
    .sort((a, b) => a.version - b.version)
    .at(-1) as LockEntry
  return { id: entry.id, type: avro.Type.forSchema(entry.schema) }
}
