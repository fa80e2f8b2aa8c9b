// Reads whole topics from the broker with its own consumer, and decodes them with avsc and the
// schemas of the lock. It uses no code of Weir: a fault of Weir's bus or codec must not hide
// records from the checkers.

import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import avro from 'avsc'
import kafkajs, { type Admin, type Kafka, type KafkaMessage } from 'kafkajs'
import type { Message } from '../../shared/contract/messages.ts'
import type { Committed, Logged } from '../evidence/evidence.ts'
import { inboxes } from '../evidence/inboxes.ts'
import { contentMark } from './content-mark.ts'
import { decrypt, type Keys, readKeys } from './decryption.ts'
import { guardNames, onceGuard } from './guard-world.ts'

const topicNames = [
  ...Object.values(inboxes),
  'guard-verdicts.approval',
  'history',
  'policies',
  'budgets',
  'activity',
  'audit',
  'dead-letters',
]

/** It decrypts the other topics. */
const keysTopic = 'conversation-keys'

/** The topic of each guard. A guard that never existed has no topic. */
const guardTopics = [...guardNames, onceGuard.name].map((guard) => `guard-verdicts.${guard}`)

type Place = { kafka: Kafka; prefix: string }
type Ends = Map<string, { begin: number; end: number }>

/**
 * All records of the topics now, in the order of each partition. `tenantKeys`: the file of keys.
 * Undefined: no record is encrypted.
 */
export async function readTopics({
  kafka,
  prefix,
  tenantKeys,
}: Place & { tenantKeys: string | undefined }): Promise<Logged[]> {
  const admin = kafka.admin()
  await admin.connect()
  const ends = await endsOf(admin, prefix)
  await admin.disconnect()
  const missing = new Map(
    [...ends].filter(([, { begin, end }]) => end > begin).map(([place, { end }]) => [place, end]),
  )
  const read = new Map<string, Stored[]>()
  if (missing.size === 0) return []

  const consumer = kafka.consumer({
    groupId: `chaos-checker-${process.pid}-${Date.now()}`,
    sessionTimeout: 60_000,
    maxWaitTimeInMs: 200,
  })
  await consumer.connect()
  const topics = [
    ...new Set([...ends.keys()].map((place) => prefix + place.slice(0, place.lastIndexOf('/')))),
  ]
  await consumer.subscribe({ topics, fromBeginning: true })
  const { promise: done, resolve, reject } = Promise.withResolvers<void>()
  consumer.on(consumer.events.CRASH, ({ payload }) => reject(payload.error))
  await consumer.run({
    autoCommit: false,
    partitionsConsumedConcurrently: 1,
    async eachBatch({ batch }) {
      const topic = batch.topic.slice(prefix.length)
      const place = `${topic}/${batch.partition}`
      const records = read.get(place) ?? []
      read.set(place, records)
      for (const message of batch.messages)
        if (Number(message.offset) > Number(records.at(-1)?.message.offset ?? -1))
          records.push({ topic, partition: batch.partition, message })
      if (Number(batch.lastOffset()) + 1 >= (missing.get(place) ?? 0)) missing.delete(place)
      if (missing.size === 0) resolve()
    },
  })
  try {
    await done
  } finally {
    await consumer.disconnect()
  }
  const stored = [...read.values()].flat()
  const keys = readKeys(tenantKeys)
  for (const { topic, message } of stored) if (topic === keysTopic) addKey(keys, message)
  return stored.map((record) => logged(record, keys))
}

/** A record as the broker returned it. */
type Stored = { topic: string; partition: number; message: KafkaMessage }

/** The last commit of every stage's group and of the groups of these guards. */
export async function readCommits({
  kafka,
  prefix,
  guards,
}: Place & { guards: string[] }): Promise<Committed[]> {
  const admin = kafka.admin()
  await admin.connect()
  const ends = await endsOf(admin, prefix)
  const committed: Committed[] = []
  for (const [name, topic] of [
    ...Object.entries(inboxes),
    ...guards.map((guard) => [`guard.${guard}`, 'rounds-cleared'] as const),
  ]) {
    const group = prefix + name
    const offsets = await admin.fetchOffsets({ groupId: group, topics: [prefix + topic] })
    for (const { partition, offset, metadata } of offsets.flatMap(({ partitions }) => partitions)) {
      const { begin, end } = ends.get(`${topic}/${partition}`) ?? { begin: 0, end: 0 }
      committed.push({
        group,
        topic,
        partition,
        offset: Number(offset),
        metadata: metadata ?? '',
        begin,
        end,
      })
    }
  }
  await admin.disconnect()
  return committed
}

async function endsOf(admin: Admin, prefix: string): Promise<Ends> {
  const ends: Ends = new Map()
  const there = new Set(await admin.listTopics())
  const others = [...guardTopics, keysTopic].filter((name) => there.has(prefix + name))
  for (const topic of [...topicNames, ...others])
    for (const { partition, low, high } of await offsetsOf(admin, prefix + topic))
      ends.set(`${topic}/${partition}`, { begin: Number(low), end: Number(high) })
  return ends
}

/**
 * On a busy machine the controller can miss a broker for a moment, and the broker then leads no partition.
 * kafkajs repeats no such request of an admin.
 */
export async function offsetsOf(admin: Pick<Admin, 'fetchTopicOffsets'>, topic: string) {
  for (;;) {
    try {
      return await admin.fetchTopicOffsets(topic)
    } catch (error) {
      if (!(error instanceof kafkajs.KafkaJSProtocolError && error.retriable)) throw error
      await sleep(200)
    }
  }
}

/** Adds the key of a conversation. */
function addKey(keys: Keys, { key, value }: KafkaMessage): void {
  const place = { topic: keysTopic, key: String(key) }
  const { message } = decoded(value === null ? null : decrypt(keys, place, value).value)
  if (message?.type === 'conversation-key')
    keys.set(message.name, { of: 'conversation', key: message.key })
}

function logged({ topic, partition, message }: Stored, keys: Keys): Logged {
  const { offset, timestamp, key, value, headers } = message
  const id = headers?.['weir-id']
  const stored = [key, value, ...Object.values(headers ?? {}).flat()]
  const { readable, encryptedWith, ...unreadable } = readableOf(topic, message, keys)
  return {
    topic,
    partition,
    offset: Number(offset),
    time: Number(timestamp),
    key: key?.toString('utf8') ?? '',
    id: id === undefined ? undefined : String(id),
    digest: createHash('sha256')
      .update(readable ?? 'tombstone')
      .digest('base64url'),
    encryptedWith,
    showsContent: stored.some((bytes) => bytes?.includes(contentMark)),
    ...decoded(readable),
    ...unreadable,
  }
}

function readableOf(topic: string, { key, value }: KafkaMessage, keys: Keys) {
  if (value === null) return { readable: null, encryptedWith: undefined }
  try {
    const { value: readable, ...how } = decrypt(keys, { topic, key: String(key) }, value)
    return { readable, ...how }
  } catch (error) {
    return { readable: value, encryptedWith: undefined, fault: (error as Error).message }
  }
}

type LockEntry = { id: number; type: string; schema: avro.Schema }

const lock = JSON.parse(
  readFileSync(fileURLToPath(new URL('../../schemas/lock.json', import.meta.url)), 'utf8'),
) as LockEntry[]
const schemas = new Map(
  lock.map(({ id, type, schema }) => [id, { type, avro: avro.Type.forSchema(schema) }]),
)

/** Confluent's frame: a zero, the schema's id as an int32, then Avro. */
function decoded(value: Buffer | null): Pick<Logged, 'message' | 'fault'> {
  if (value === null) return { message: undefined, fault: undefined }
  try {
    if (value.length < 5 || value.readInt8(0) !== 0)
      throw new Error(`no frame: ${value.subarray(0, 16).toString('hex')}`)
    const schema = schemas.get(value.readInt32BE(1))
    if (schema === undefined)
      throw new Error(`the schema ${value.readInt32BE(1)} is not in schemas/lock.json`)
    const fields = schema.avro.fromBuffer(value.subarray(5)) as object
    return { message: { ...fields, type: schema.type } as Message, fault: undefined }
  } catch (error) {
    return { message: undefined, fault: (error as Error).message }
  }
}
