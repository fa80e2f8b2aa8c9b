// The partition count of a log on a real broker: kept at the start, and refused everywhere once the
// topics have another one.

import { randomUUID } from 'node:crypto'
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals'
import kafkajs, { type Admin } from 'kafkajs'
import '../../../../shared/bus/kafka/driver.ts' // its patch: no timers in the past
import { pino } from 'pino'
import { openBus } from '../../../../client/place/open-bus.ts'
import { decode, encode } from '../../../../shared/codec/codec.ts'
import type { Bus } from '../../../../shared/contract/bus.ts'
import { partitionOf } from '../../../../shared/contract/partition.ts'
import { topicSpecs } from '../../../../shared/contract/retention.ts'
import {
  storedPartitionCount,
  storePartitionCount,
} from '../../../../shared/runtime/log/partition-count.ts'
import { readSettings } from '../../../../shared/settings/settings.ts'
import { until } from '../../../support/inbox.ts'
import { brokerStartMs, sharedBroker } from '../../../support/kafka/broker.ts'
import { says, script, text } from '../../../support/script.ts'
import { type CommandFolder, openCommandFolder } from '../../../support/weir-command.ts'
import { startUp } from '../../../support/weir-up.ts'

const testMs = 120_000

let commands: CommandFolder
let broker: string
let admin: Admin
let prefix: string
let bus: Bus | undefined

beforeAll(async () => {
  broker = (await sharedBroker()).bootstrapServers
  admin = new kafkajs.Kafka({
    brokers: broker.split(','),
    logLevel: kafkajs.logLevel.NOTHING,
  }).admin()
  await admin.connect()
  commands = await openCommandFolder(script(says(text('Fine.')), says(text('Fine.'))))
}, brokerStartMs)
afterEach(async () => {
  await bus?.close()
  bus = undefined
})
afterAll(async () => {
  await admin?.disconnect()
  await commands?.close()
})

/** A log of 4 partitions under a new prefix, without the record of its count. */
async function log(): Promise<Bus> {
  prefix = `count-${randomUUID().slice(0, 8)}.`
  bus = await openBus(
    readSettings({ bus: 'kafka', bootstrapServer: broker, dataFolder: commands.folder }, {}),
    pino({ level: 'silent' }),
    { keepsTables: false },
  )
  await bus.ensureTopics(topicSpecs(prefix, 4))
  return bus
}

/** Adds partitions to all topics, as an operator with Kafka's own tool. */
async function grow(): Promise<void> {
  const topics = topicSpecs(prefix, 4).map(({ name }) => name)
  await admin.createPartitions({
    topicPartitions: topics.map((topic) => ({ topic, count: 6 })),
  })
  // The controller confirms the change before the broker's own metadata has it.
  await until(async () => {
    const metadata = await admin.fetchTopicMetadata({ topics })
    return metadata.topics.every(({ partitions }) => partitions.length === 6)
  })
}

const environment = () => ({
  WEIR_BUS: 'kafka',
  WEIR_BOOTSTRAP_SERVER: broker,
  WEIR_TOPIC_PREFIX: prefix,
})
const weir = (...args: string[]) => commands.run(args, { environment: environment() })
const upArgs = ['up', '--stages', 'validator']

/** Records as clients of a log of 4 partitions write them. */
async function writeConversations(to: Bus): Promise<void> {
  const records = Array.from({ length: 24 }, (_, n) => {
    const conversation = `c${n}` as never
    const value = encode({ type: 'cancel-requested', conversation, messageId: 'm' as never })
    const partition = partitionOf(conversation, 4)
    return { topic: `${prefix}conversation-events`, partition, key: conversation, value }
  })
  await to.append(records)
}

describe('the partition count', () => {
  it(
    'is stored by the first start, and then refuses grown topics in every command',
    async () => {
      const open = await log()
      await writeConversations(open)
      const first = startUp(commands, {
        args: ['--stages', 'validator', '--agents', 'agent.yaml'],
        environment: environment(),
      })
      await first.untilReady()
      expect(await storedPartitionCount(open, prefix)).toBe(4)
      expect(await weir(...upArgs, '--partitions', '3')).toMatchObject({
        code: 1,
        errors: expect.stringContaining('partitions is set to 3'),
      })

      first.signal('SIGTERM')
      expect((await first.ended).code).toBe(0)
      await grow()
      const refused = expect.stringMatching(/has 6 partitions, and this log began with 4/)
      const [up, ask, ...reports] = await Promise.all([
        weir(...upArgs),
        weir('ask', '--agent', 'agent.yaml', 'Hello'),
        weir('doctor'),
        weir('topics', 'check'),
        weir('topics', 'create'),
      ])
      expect([up, ask]).toMatchObject([
        { code: 1, errors: refused },
        { code: 1, errors: refused },
      ])
      expect(reports.map(({ code }) => code)).toEqual([1, 1, 1])
      for (const { out } of reports) {
        expect(out).toMatch(/partitions is 6, and must be 4/)
        expect(out).not.toMatch(/set partitions/)
      }
    },
    testMs,
  )

  it(
    'is not stored for a log whose topics have grown before',
    async () => {
      const open = await log()
      await writeConversations(open)
      await grow()
      await bus?.close()
      bus = await openBus(
        readSettings({ bus: 'kafka', bootstrapServer: broker, dataFolder: commands.folder }, {}),
        pino({ level: 'silent' }),
        { keepsTables: false },
      )
      await expect(storePartitionCount(bus, prefix, 6)).rejects.toMatchObject({
        code: 'bus.topic-differs',
        message: expect.stringMatching(/of 24 sampled records are in another partition/),
      })
      expect(await storedPartitionCount(bus, prefix)).toBeUndefined()
    },
    testMs,
  )

  it(
    'is stored by weir topics create, and weir topics grow prints the steps to more',
    async () => {
      prefix = `count-${randomUUID().slice(0, 8)}.`
      const created = await weir('topics', 'create', '--partitions', '2')
      expect(created).toMatchObject({ code: 0, errors: '' })
      const [same, other, grown, unchanged, unnamed] = await Promise.all([
        weir('topics', 'check'), // the default is 4
        weir('topics', 'check', '--partitions', '4'),
        weir('topics', 'grow', '--partitions', '8'),
        weir('topics', 'grow', '--partitions', '2'),
        weir('topics', 'grow'),
      ])
      expect(same).toMatchObject({ code: 0 })
      expect(other).toMatchObject({
        code: 2,
        errors: expect.stringMatching(/this log began with 2/),
      })
      expect(grown.code).toBe(1)
      expect(grown.out).toContain('a log of 2 partitions cannot grow to 8')
      expect(grown.out).toContain(
        `weir topics create --topic-prefix ${prefix.slice(0, -1)}-2. --partitions 8`,
      )
      expect([unchanged.code, unnamed.code]).toEqual([2, 2])
    },
    testMs,
  )

  it(
    'ends a subscription, and refuses appends, in a process that sees its topics grow',
    async () => {
      const open = await log()
      const topic = `${prefix}rounds-proposed`
      const subscription = await open.subscribe({
        group: `${prefix}validator`,
        topic,
        assign: async ({ ends: { begin } }) => ({
          position: begin,
          read: async () => ({ outputs: [], commit: undefined }),
          acknowledged() {},
          close: async () => {},
        }),
      })
      await grow()
      await open.ends(`${prefix}activity`)
      await expect(subscription.failed).rejects.toMatchObject({
        code: 'bus.topic-differs',
        message: expect.stringMatching(/had 4 partitions when this process started, and has 6 now/),
      })
      const message = { type: 'partition-count', partitions: 4 } as const
      const value = encode(message)
      expect(decode(value)).toEqual(message)
      await expect(open.append([{ topic, partition: 0, key: 'c', value }])).rejects.toMatchObject({
        code: 'bus.topic-differs',
      })
    },
    testMs,
  )
})
