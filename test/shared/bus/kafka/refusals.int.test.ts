// Records that a broker refuses, and logs with lost or foreign records. Each stops the affected
// work with its reason, and nothing is skipped.

import { randomUUID } from 'node:crypto'
import { zstdCompressSync } from 'node:zlib'
import { describe, expect, it } from '@jest/globals'
import kafkajs from 'kafkajs'
import { pino } from 'pino'
import { validator } from '../../../../services/validator/reducer.ts'
import { openKafkaBus } from '../../../../shared/bus/kafka/bus.ts'
import { createTopics } from '../../../../shared/bus/kafka/cluster/topic-admin.ts'
import { createBroker, protocolError, sendRaw } from '../../../../shared/bus/kafka/driver.ts'
import { crc32c } from '../../../../shared/bus/kafka/protocol/crc32c.ts'
import { produceRequest } from '../../../../shared/bus/kafka/protocol/produce-request.ts'
import { encodeBatch } from '../../../../shared/bus/kafka/protocol/record-batch.ts'
import { topicSpecs } from '../../../../shared/contract/retention.ts'
import { systemClock } from '../../../../shared/lib/clock.ts'
import { runStage } from '../../../../shared/runtime/run-stage.ts'
import { collect, newName, readAll, record } from '../contract-world.ts'
import { bytesOf, subscribeRecording, textOf, until } from '../recording-readers.ts'
import { kafkaWorld } from './kafka-world.ts'

const world = kafkaWorld()
const silent = pino({ level: 'silent' })

/** A topic for small records only, outside of Weir's plans. */
const narrowTopic = () => topicWith({ 'max.message.bytes': '2000' })

/**
 * A topic that keeps batches as they were compressed, like Weir's own topics in an earlier plan.
 */
const keepingTopic = () =>
  topicWith({ 'message.timestamp.type': 'LogAppendTime', 'compression.type': 'producer' })

/** The reason why partition 0 is not read. */
async function damageOf({ damaged }: { damaged?: ReadonlyMap<number, string> }): Promise<string> {
  await until('it is damaged', () => damaged?.has(0) === true)
  return damaged?.get(0) ?? ''
}

async function topicWith(config: Record<string, string>): Promise<string> {
  const topic = newName('foreign')
  const configEntries = Object.entries(config).map(([name, value]) => ({ name, value, reason: '' }))
  await createTopics(world.admin, [
    { topic, kind: 'log', numPartitions: 1, replicationFactor: -1, configEntries },
  ])
  return topic
}

/**
 * The records of a producer that compresses with a codec. `compress` gets the records of a batch.
 */
async function produceCompressed(
  topic: string,
  texts: string[],
  codec: number,
  compress: (records: Buffer) => Buffer,
): Promise<void> {
  const batch = encodeBatch(
    texts.map((text) => record(topic, text)),
    Date.now(),
  )
  const compressed = Buffer.concat([batch.subarray(0, 61), compress(batch.subarray(61))])
  compressed.writeInt32BE(compressed.length - 12, 8)
  compressed.writeInt16BE(codec, 21)
  compressed.writeUInt32BE(crc32c(compressed.subarray(21)), 17)
  const [host = '', port = ''] = (world.brokers[0] ?? '').split(':')
  const broker = await createBroker(
    { brokers: world.brokers },
    { host, port: Number(port) },
    () => () => {},
  )
  await broker.connect()
  const [answer] = await sendRaw(
    broker,
    produceRequest([{ topic, partition: 0, batch: compressed }]),
  )
  if (answer?.errorCode !== 0) throw protocolError(answer?.errorCode ?? -1)
  await broker.connectionPool.pool[0]?.disconnect()
}

/** Snappy as Java's producers frame it, as one literal: the data is not compressed. */
function snappy(bytes: Buffer): Buffer {
  const length = Buffer.from([(bytes.length & 0x7f) | 0x80, bytes.length >> 7])
  const literal = Buffer.from([61 << 2, (bytes.length - 1) & 0xff, (bytes.length - 1) >> 8])
  const block = Buffer.concat([length, literal, bytes])
  const header = Buffer.from([0x82, ...Buffer.from('SNAPPY'), 0, 0, 0, 0, 1, 0, 0, 0, 1])
  const size = Buffer.alloc(4)
  size.writeInt32BE(block.length)
  return Buffer.concat([header, size, block])
}

describe('a record that is too large for the broker', () => {
  it('fails its own call and no other', async () => {
    const bus = await world.open()
    const topic = await narrowTopic()
    const appending = [
      record(topic, 'before'),
      record(topic, 'x'.repeat(5000)),
      record(topic, 'after'),
    ].map((each) => bus.append([each]))
    const answers = await Promise.allSettled(appending)
    expect(answers.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled'])
    expect(answers[1]).toMatchObject({ reason: { code: 'bus.record-too-large', retryable: false } })
    expect((await readAll(bus, topic)).map(textOf)).toEqual(['before', 'after'])
  })

  it('is not overtaken by later records of the same caller', async () => {
    const bus = await world.open()
    const topic = await narrowTopic()
    const texts = ['before', 'x'.repeat(5000), 'behind']
    await expect(bus.append(texts.map((text) => record(topic, text)))).rejects.toMatchObject({
      code: 'bus.record-too-large',
    })
    await bus.append([record(topic, 'another')])
    expect((await readAll(bus, topic)).map(textOf)).toEqual(['before', 'another'])
  })

  it('does not fail records that are too large only together', async () => {
    const bus = await world.open()
    const topic = await narrowTopic()
    const texts = Array.from({ length: 20 }, (_, n) => `${n} ${'x'.repeat(500)}`)
    const appended = await bus.append(texts.map((text) => record(topic, text)))
    expect(appended.map(({ offset }) => offset)).toEqual(texts.map((_, n) => n))
    expect((await readAll(bus, topic)).map(textOf)).toEqual(texts)
  })

  it('fails the subscription whose output it is, and is not committed', async () => {
    const bus = await world.open()
    const [inbox, narrow, group] = [await world.topic(bus), await narrowTopic(), newName('group')]
    const step = () => ({
      outputs: [record(narrow, 'x'.repeat(5000))],
      commit: { offset: 1, metadata: '' },
    })
    const recording = await subscribeRecording(bus, { group, topic: inbox, step })
    await bus.append([record(inbox, 'a')])
    await expect(recording.subscription.failed).rejects.toMatchObject({
      code: 'bus.record-too-large',
    })
    await recording.subscription.close()
    const next = await subscribeRecording(bus, { group, topic: inbox })
    await until('it is read again', () => next.values().includes('a'))
    expect(next.partitions.get(0)?.assignment.committed).toBeUndefined()
  })
})

describe('a commit that is outside the log', () => {
  it('stops its partition with the reason', async () => {
    const bus = await world.open()
    const topicPrefix = `outside-${randomUUID()}.`
    await bus.ensureTopics(topicSpecs(topicPrefix, 1))
    const inbox = `${topicPrefix}rounds-proposed`
    const group = `${topicPrefix}validator`
    const away = await subscribeRecording(bus, {
      group,
      topic: inbox,
      step: () => ({ outputs: [], commit: { offset: 1000, metadata: '' } }),
    })
    await bus.append([record(inbox, 'a')])
    await until(
      'it is committed',
      () => away.partitions.get(0)?.happenings.at(-1)?.what === 'acknowledged',
    )
    await away.subscription.close()
    const subscription = await runStage({ stage: validator }, { bus, topicPrefix, log: silent })
    expect(await damageOf(subscription)).toMatch(/is outside the log \(0 to 1\)/)
    expect(subscription.joined).toBe(true)
    await subscription.close()
  })
})

describe('a topic that is recreated while it is read', () => {
  it('is not read on, even if the new one has more records', async () => {
    const bus = await world.open()
    const topic = await world.topic(bus)
    const recording = await subscribeRecording(bus, { group: newName('group'), topic })
    await bus.append([record(topic, 'old')])
    await until('it is read', () => recording.records.length === 1)
    await world.admin.deleteTopics({ topics: [topic] })
    await until('it is gone', async () => !(await world.admin.listTopics()).includes(topic))
    await world.admin.createTopics({ waitForLeaders: false, topics: [{ topic, numPartitions: 1 }] })
    const writer = await world.open()
    await writer.append(['new', 'new', 'new'].map((text) => record(topic, text)))
    expect(await damageOf(recording.subscription)).toMatch(/was deleted and created again/)
    expect(recording.values()).toEqual(['old'])
  })

  it('is retried by writers, because it may only be unknown for a moment', async () => {
    const bus = await world.open()
    const topic = await world.topic(bus)
    await bus.append([record(topic, 'old')])
    await world.admin.deleteTopics({ topics: [topic] })
    await until('it is gone', async () => !(await world.admin.listTopics()).includes(topic))
    const writing = [bus.append([record(topic, 'a')])]
    await new Promise((resolve) => setTimeout(resolve, 500))
    writing.push(bus.append([record(topic, 'b')]))
    await new Promise((resolve) => setTimeout(resolve, 1_000))
    await world.admin.createTopics({ waitForLeaders: false, topics: [{ topic, numPartitions: 1 }] })
    await Promise.all(writing)
    expect((await readAll(bus, topic)).map(textOf)).toEqual(['a', 'b'])
  })

  it('gives a table no answers, because an empty answer would mean that nobody had set anything', async () => {
    const bus = await world.open()
    const topic = await world.topic(bus, 'table')
    const table = { topic, partition: 0 }
    await bus.append([{ ...table, key: 'a', value: bytesOf('old') }])
    expect(await bus.list({ ...table, prefix: '' })).toHaveLength(1)
    await world.admin.deleteTopics({ topics: [topic] })
    await until('it is gone', async () => !(await world.admin.listTopics()).includes(topic))
    const configEntries = [{ name: 'cleanup.policy', value: 'compact' }]
    await world.admin.createTopics({
      waitForLeaders: false,
      topics: [{ topic, numPartitions: 1, configEntries }],
    })
    const writer = await world.open()
    await writer.append([{ ...table, key: 'b', value: bytesOf('new') }])
    const recreated = { code: 'bus.topic-recreated' }
    await expect(bus.list({ ...table, prefix: '', upToNow: true })).rejects.toMatchObject(recreated)
    await expect(bus.get({ ...table, key: 'b', waitMs: 0 })).rejects.toMatchObject(recreated)
  })
})

describe('records that retention deletes', () => {
  it('are skipped by a follower, and stop a reader that had not read them', async () => {
    const bus = await world.open()
    const topic = await world.topic(bus)
    await bus.append(['a', 'b', 'c'].map((text) => record(topic, text)))
    // otherwise kafkajs's next call knows no leader
    await world.admin.fetchTopicMetadata({ topics: [topic] })
    await world.admin.deleteTopicRecords({ topic, partitions: [{ partition: 0, offset: '2' }] })
    expect(await bus.ends(topic)).toEqual([{ partition: 0, begin: 2, end: 3 }])
    expect((await bus.read({ topic, partition: 0, from: 0, limit: 10 })).map(textOf)).toEqual(['c'])
    const stop = new AbortController()
    const seen: string[] = []
    const following = collect(
      bus.follow({ topic, partition: 0, from: 0, signal: stop.signal }),
      seen,
    )
    await until('what is there is read', () => seen.length === 1)
    stop.abort()
    await following
    const recording = await subscribeRecording(bus, {
      group: newName('group'),
      topic,
      position: () => 1,
    })
    expect(await damageOf(recording.subscription)).toMatch(/outside/)
    expect([seen, recording.values()]).toEqual([['c'], []])
  })
})

describe('records of others', () => {
  it("are read if kafkajs compressed them with gzip, with the log's timestamps", async () => {
    const bus = await world.open()
    const topic = await keepingTopic()
    const producer = world.kafka.producer()
    await producer.connect()
    const texts = Array.from({ length: 100 }, (_, n) => `foreign ${n}`)
    const messages = texts.map((value) => ({
      key: 'k',
      value,
      partition: 0,
      timestamp: '1',
      headers: { 'weir-id': 'x/0/1/2', other: 'y' },
    }))
    await producer.send({ topic, compression: kafkajs.CompressionTypes.GZIP, messages })
    await producer.disconnect()
    const recording = await subscribeRecording(bus, { group: newName('group'), topic })
    await until('all are read', () => recording.records.length === 100)
    expect(recording.values()).toEqual(texts)
    expect(
      recording.records.every(
        ({ id, time }) => id === 'x/0/1/2' && Math.abs(time - Date.now()) < 3_600_000,
      ),
    ).toBe(true)
  })

  it('are read if compressed with zstd', async () => {
    const bus = await world.open()
    const topic = await keepingTopic()
    await produceCompressed(topic, ['a', 'b'], 4, zstdCompressSync)
    expect((await readAll(bus, topic)).map(textOf)).toEqual(['a', 'b'])
  })

  it("are read from Weir's topics with any codec, because brokers decompress them", async () => {
    const bus = await world.open()
    const topic = await world.topic(bus)
    const texts = Array.from({ length: 20 }, (_, n) => `packed ${n}`)
    await produceCompressed(topic, texts, 2, snappy)
    await bus.append([record(topic, 'ours')])
    const recording = await subscribeRecording(bus, { group: newName('group'), topic })
    await until('they are read', () => recording.records.length === 21)
    expect(recording.values()).toEqual([...texts, 'ours'])
  })

  it('stop a reader if the topic keeps them so, and the error names the setting', async () => {
    const bus = await world.open()
    const topic = await keepingTopic()
    await produceCompressed(topic, ['a'.repeat(200)], 2, snappy)
    const recording = await subscribeRecording(bus, { group: newName('group'), topic })
    expect(await damageOf(recording.subscription)).toMatch(
      /Set compression.type of the topic to uncompressed/,
    )
  })

  it('are skipped if their transaction was aborted', async () => {
    const bus = await world.open()
    const topic = await world.topic(bus)
    const producer = world.kafka.producer({
      transactionalId: newName('transaction'),
      maxInFlightRequests: 1,
      idempotent: true,
    })
    await producer.connect()
    for (const [text, isAborted] of [
      ['aborted', true],
      ['committed', false],
    ] as const) {
      const transaction = await producer.transaction()
      await transaction.send({ topic, messages: [{ key: 'k', value: text, partition: 0 }] })
      await (isAborted ? transaction.abort() : transaction.commit())
    }
    await producer.disconnect()
    await bus.append([record(topic, 'ours')])
    const recording = await subscribeRecording(bus, { group: newName('group'), topic })
    await until('they are read', () => recording.records.length === 2)
    expect(recording.values()).toEqual(['committed', 'ours'])
    expect((await readAll(bus, topic)).map(textOf)).toEqual(['committed', 'ours'])
  })
})

describe('opening a bus', () => {
  it('fails after a while if no broker responds', async () => {
    const opening = openKafkaBus({
      client: { brokers: ['127.0.0.1:1'] },
      clock: systemClock,
      log: silent,
      connectMs: 300,
    })
    await expect(opening).rejects.toMatchObject({
      code: 'bus.unreachable',
      message: expect.stringContaining('127.0.0.1:1'),
    })
  })

  it('names an invalid address', async () => {
    const opening = openKafkaBus({
      client: { brokers: ['localhost'] },
      clock: systemClock,
      log: silent,
      connectMs: 300,
    })
    await expect(opening).rejects.toMatchObject({
      code: 'settings.invalid',
      message: expect.stringContaining('host:port'),
    })
  })
})
