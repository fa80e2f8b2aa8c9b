// Records of a foreign producer in the inboxes on Kafka, by a client that is not ours. They are
// bytes that are no record, records of other versions, misplaced records, records of unknown calls,
// and a record that makes a reducer throw. Each is kept with its origin or has no effect, and turns
// go on.

import { randomUUID } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import avro from 'avsc'
import kafkajs, { type Message as KafkaRecord, type Producer } from 'kafkajs'
import { pino } from 'pino'
import { validator } from '../../services/validator/reducer.ts'
import { openKafkaBus } from '../../shared/bus/kafka/bus.ts'
import { decode, encode } from '../../shared/codec/codec.ts'
import type { Bus } from '../../shared/contract/bus.ts'
import type { DeadLetter, Message, UserMessage } from '../../shared/contract/messages.ts'
import { partitionOf } from '../../shared/contract/partition.ts'
import { topicSpecs } from '../../shared/contract/retention.ts'
import { stages, type TopicName } from '../../shared/contract/topology.ts'
import { systemClock } from '../../shared/lib/clock.ts'
import { runStage } from '../../shared/runtime/run-stage.ts'
import { callOf, proposed } from '../services/validator/round.ts'
import { endsOfMessages, until, userMessage } from '../support/inbox.ts'
import { appendInputs } from '../support/inputs.ts'
import { expectInvariants } from '../support/invariants.ts'
import { brokerStartMs, sharedBroker } from '../support/kafka/broker.ts'
import { type Pipeline, withPipeline } from '../support/pipeline.ts'
import { call, says, script } from '../support/script.ts'

const inboxes = [...new Set(Object.values(stages).map(({ inbox }) => inbox))]
const lockFile = join(import.meta.dirname, '..', '..', 'schemas', 'lock.json')

let brokers: string[] = []
let producer: Producer
beforeAll(async () => {
  brokers = (await sharedBroker()).bootstrapServers.split(',')
  producer = new kafkajs.Kafka({
    brokers,
    clientId: 'stranger',
    logLevel: kafkajs.logLevel.NOTHING,
  }).producer()
  await producer.connect()
}, brokerStartMs)
afterAll(() => producer?.disconnect())

const openBus = (folder?: string): Promise<Bus> =>
  openKafkaBus({
    client: { brokers, clientId: 'bad-input' },
    clock: systemClock,
    log: pino({ level: process.env.WEIR_TEST_LOG ?? 'silent' }),
    tablesFolder: folder && join(folder, 'tables'),
  })

/** All stages, with a model that calls a tool once and then ends its turns with text. */
function onKafka(test: (pipeline: Pipeline) => Promise<void>): Promise<void> {
  return withPipeline(
    {
      model: script(says(call('exec', { command: 'ls' }))),
      topicPrefix: `bad-${randomUUID()}.`,
      openBus,
    },
    test,
  )
}

function produce(
  { wiring: { topicPrefix } }: Pick<Pipeline, 'wiring'>,
  topic: TopicName,
  ...messages: KafkaRecord[]
) {
  return producer.send({
    topic: topicPrefix + topic,
    messages: messages.map((message) => ({ partition: 0, ...message })),
  })
}

/** Written with the schema of an earlier release. */
function encodedAs(id: number, message: Message): Buffer {
  const lock = JSON.parse(readFileSync(lockFile, 'utf8')) as { id: number; schema: avro.Schema }[]
  const schema = lock.find((entry) => entry.id === id)?.schema as avro.Schema
  const frame = Buffer.alloc(5)
  frame.writeInt32BE(id, 1)
  return Buffer.concat([frame, avro.Type.forSchema(schema).toBuffer(message)])
}

/** By topic and offset, once there are as many. */
async function lettersOf(
  { records }: Pick<Pipeline, 'records'>,
  count: number,
): Promise<DeadLetter[]> {
  await until(async () => (await records('dead-letters')).length >= count)
  const letters = (await records('dead-letters')) as DeadLetter[]
  return letters.sort((a, b) =>
    a.topic < b.topic ? -1 : a.topic > b.topic ? 1 : a.offset - b.offset,
  )
}

describe('a foreign producer on Kafka', () => {
  it('may write broken records into every inbox: each is kept with its origin, and turns go on', async () => {
    await onKafka(async (pipeline) => {
      const tick = encode({ type: 'tick', conversation: 'c', unit: 'c' })
      const newer = Buffer.from(tick)
      newer.writeInt32BE(1_000_000, 1)
      const bad: KafkaRecord[] = [
        { key: 'c', value: Buffer.from('this is no record') },
        { key: null, value: Buffer.from('nor is this, and it has no key') },
        { key: 'c', value: Buffer.alloc(0) },
        { key: 'c', value: null },
        { key: 'c', value: newer },
        { key: 'c', value: tick.subarray(0, 7) },
        { key: 'x'.repeat(10_240), value: tick },
        { key: 'c', value: tick, headers: { 'weir-id': 'no derived id' } },
        {
          key: 'c',
          value: Buffer.from([0, 255, 254]),
          headers: { 'weir-id': ['conversation/0/0/0', 'conversation/0/0/1'], other: 'x' },
        },
      ]
      for (const inbox of inboxes) await produce(pipeline, inbox, ...bad)
      for (const inbox of inboxes)
        await producer.send({
          topic: pipeline.wiring.topicPrefix + inbox,
          compression: kafkajs.CompressionTypes.GZIP,
          messages: [{ partition: 0, key: 'c', value: 'packed' }],
        })
      const each = bad.length + 1
      const letters = await lettersOf(pipeline, each * inboxes.length)
      expect(letters.map(({ topic, partition, offset }) => [topic, partition, offset])).toEqual(
        inboxes
          .toSorted()
          .flatMap((inbox) =>
            Array.from({ length: each }, (_, offset) => [
              pipeline.wiring.topicPrefix + inbox,
              0,
              offset,
            ]),
          ),
      )
      const codes = [
        'bad-frame',
        'bad-frame',
        'bad-frame',
        'bad-message',
        'unknown-schema',
        'bad-body',
        'bad-message',
      ]
      expect(letters.slice(0, codes.length).map(({ code }) => code)).toEqual(
        codes.map((code) => `codec.${code}`),
      )
      expect(letters.every(({ reason }) => reason.length > 10)).toBe(true)

      const { finished } = await pipeline.ask('and now?')
      expect(finished).toMatchObject({ outcome: 'answered', totals: { rounds: 2, calls: 1 } })
      expect(await pipeline.starts()).toHaveLength(1)
      await expectInvariants(pipeline, { deadLetters: each * inboxes.length })
    })
  })

  it('may be of an older release, which is read, or a newer one, which is kept; an id of 10 KB is refused', async () => {
    await onKafka(async (pipeline) => {
      const message = (fields: Partial<UserMessage>) => userMessage(pipeline.agent, fields)
      const older = message({ messageId: 'older', conversation: 'o' })
      const long = message({ messageId: 'long', conversation: 'x'.repeat(10_240) })
      const partition = ({ conversation }: UserMessage) =>
        partitionOf(conversation, pipeline.wiring.partitions)
      await produce(
        pipeline,
        'conversation-events',
        { key: 'o', partition: partition(older), value: encodedAs(32, older) },
        { key: long.conversation, partition: partition(long), value: encode(long) },
      )
      expect(await endsOfMessages(pipeline, 'o', ['older'])).toMatchObject([
        { outcome: 'answered' },
      ])
      expect(await endsOfMessages(pipeline, long.conversation, ['long'])).toMatchObject([
        {
          outcome: 'failed',
          reason: expect.stringMatching(/^the conversation's id has 10240 bytes/),
        },
      ])
      await expectInvariants(pipeline)
    })
  })

  it('opens no turn outside the partition of its key, and its claims for unknown calls do not count', async () => {
    await onKafka(async (pipeline) => {
      const home = partitionOf('c', pipeline.wiring.partitions)
      const stray = encode(userMessage(pipeline.agent, { messageId: 'stray' }))
      await produce(pipeline, 'conversation-events', {
        key: 'c',
        partition: 1 - home,
        value: stray,
      })
      const claims = [0, 1, 2].flatMap((ordinal) =>
        [0, 1, 7].map((turn): KafkaRecord => {
          const claim: Message = {
            type: 'claim',
            conversation: 'c',
            turn,
            round: 1,
            ordinal,
            try: 1,
            owner: 'stranger',
          }
          return { key: 'c', partition: home, value: encode(claim) }
        }),
      )
      await produce(pipeline, 'rounds-cleared', ...claims)
      const [letter] = await lettersOf(pipeline, 1)
      expect(letter).toMatchObject({
        stage: 'conversation',
        partition: 1 - home,
        code: 'codec.bad-message',
      })
      expect(letter?.reason).toContain(`belongs to ${home} of ${pipeline.wiring.partitions}`)

      const { finished } = await pipeline.ask('and now?')
      expect(finished).toMatchObject({ outcome: 'answered', totals: { calls: 1 } })
      expect(await pipeline.starts()).toHaveLength(1)
      await expectInvariants(pipeline, { deadLetters: 1 })
    })
  })
})

describe('a record that makes a reducer throw, on Kafka', () => {
  it('fails only its own turn, once, also if the stage is restarted', async () => {
    const bus = await openBus()
    const topicPrefix = `throws-${randomUUID()}.`
    await bus.ensureTopics(topicSpecs(topicPrefix, 1))
    await appendInputs(bus, `${topicPrefix}model-deltas`)
    const stumbling: typeof validator = {
      ...validator,
      react(state, received) {
        if (received.message.conversation === 'bad') throw new Error('it stumbles over this')
        return validator.react(state, received)
      },
    }
    const log = pino({ level: 'silent' })
    const start = () => runStage({ stage: stumbling }, { bus, topicPrefix, log })
    const records = async (topic: TopicName) =>
      (await bus.read({ topic: topicPrefix + topic, partition: 0, from: 0, limit: 100 })).map(
        ({ value }) => decode(value as Uint8Array),
      )
    let inputs = 0
    const propose = async (conversation: string) => {
      const headers = { 'weir-id': `accumulator/0/${inputs++}/0` }
      const value = encode(proposed([callOf('{"command":"ls"}')], undefined, { conversation }))
      await producer.send({
        topic: `${topicPrefix}rounds-proposed`,
        messages: [{ partition: 0, key: conversation, value, headers }],
      })
    }
    try {
      const first = await start()
      for (const conversation of ['a', 'bad', 'b']) await propose(conversation)
      await until(async () => (await records('rounds-checked')).length >= 2)
      await first.close()
      const second = await start()
      await propose('c')
      await until(async () => (await records('rounds-checked')).length >= 3)
      await second.close()
      expect(
        (await records('rounds-checked')).map(
          (message) => 'conversation' in message && message.conversation,
        ),
      ).toEqual(['a', 'b', 'c'])
      expect(await records('dead-letters')).toMatchObject([
        { topic: `${topicPrefix}rounds-proposed`, partition: 0, offset: 1, key: 'bad' },
      ])
      expect(await records('conversation-events')).toMatchObject([
        {
          type: 'turn-failed',
          conversation: 'bad',
          stage: 'validator',
          reason: expect.stringContaining('it stumbles over this'),
        },
      ])
    } finally {
      await bus.close()
    }
  })
})
