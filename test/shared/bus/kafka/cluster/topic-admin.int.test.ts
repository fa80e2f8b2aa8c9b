// Topics on a real broker: creation as planned, and reports of topics that differ.

import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import kafkajs, { type Admin, type Kafka } from 'kafkajs'
import {
  createTopics,
  topicDifferences,
} from '../../../../../shared/bus/kafka/cluster/topic-admin.ts'
import {
  type TopicPlanOptions,
  topicPlan,
} from '../../../../../shared/bus/kafka/cluster/topic-plan.ts'
import { topicSpecs } from '../../../../../shared/contract/retention.ts'
import { until } from '../../../../support/inbox.ts'
import { brokerStartMs, sharedBroker } from '../../../../support/kafka/broker.ts'

let kafka: Kafka
let admin: Admin
let other: Admin
beforeAll(async () => {
  const { bootstrapServers } = await sharedBroker()
  kafka = new kafkajs.Kafka({
    brokers: bootstrapServers.split(','),
    logLevel: kafkajs.logLevel.NOTHING,
  })
  admin = kafka.admin()
  other = kafka.admin()
  await Promise.all([admin.connect(), other.connect()])
}, brokerStartMs)
afterAll(() => Promise.all([admin?.disconnect(), other?.disconnect()]))

describe('creating topics', () => {
  it('creates missing topics as planned, and they can be written at once', async () => {
    const { prefix, plan } = newPlan()
    await admin.createTopics({ waitForLeaders: false, topics: [plan[0]!] })
    const created = await createTopics(admin, plan)
    expect(created).toEqual(plan.slice(1).map(({ topic }) => topic))
    expect(await topicDifferences(admin, plan)).toEqual([])
    const producer = kafka.producer({ createPartitioner: () => () => 1, retry: { retries: 0 } })
    await producer.connect()
    await producer.send({ topic: `${prefix}rounds-proposed`, messages: [{ value: 'x' }] })
    await producer.disconnect()
    expect(await createTopics(admin, plan)).toEqual([])
  })

  it('works in several processes at once, and each topic is created by one of them', async () => {
    const { plan } = newPlan()
    const created = (
      await Promise.all([createTopics(admin, plan), createTopics(other, plan)])
    ).flat()
    expect(created.toSorted()).toEqual(plan.map(({ topic }) => topic).toSorted())
    expect(await topicDifferences(admin, plan)).toEqual([])
  })

  it('prints a remedy if there are fewer brokers than copies', async () => {
    const { plan } = newPlan({ replicationFactor: 99 })
    await expect(createTopics(admin, plan)).rejects.toMatchObject({
      code: 'bus.topic-missing',
      message: expect.stringMatching(
        /rounds-proposed: topic is missing, and the broker rejected its creation \(INVALID_REPLICATION_FACTOR\).*--replication-factor/,
      ),
    })
  })
})

describe('differences', () => {
  it('name missing topics, and do not create them', async () => {
    const { plan } = newPlan()
    const expected = plan.map(({ topic }) => ({
      topic,
      property: 'topic',
      is: 'missing',
      shouldBe: 'there',
      remedy: 'weir topics create',
    }))
    expect(await topicDifferences(admin, plan)).toEqual(expected)
    expect(await topicDifferences(admin, plan)).toEqual(expected)
  })

  it('name another number of partitions', async () => {
    const { prefix, plan } = newPlan()
    await createTopics(admin, plan)
    const wider = topicPlan(topicSpecs(prefix, 7), { replicationFactor: 1 })
    const differences = await topicDifferences(admin, wider)
    expect(
      differences.map(({ topic, property, is, shouldBe }) => ({ topic, property, is, shouldBe })),
    ).toEqual(wider.map(({ topic }) => ({ topic, property: 'partitions', is: '3', shouldBe: '7' })))
  })

  it('name each entry below the plan, with the command that fixes it', async () => {
    const { prefix, plan } = newPlan()
    await createTopics(admin, plan)
    const topic = `${prefix}activity`
    const wrong: Record<string, string> = {
      'cleanup.policy': 'compact,delete',
      'retention.ms': '60000',
      'retention.bytes': '1000000',
      'message.timestamp.type': 'CreateTime',
      'max.message.bytes': '1048588',
      'compression.type': 'lz4',
      'unclean.leader.election.enable': 'true',
    }
    await alter(topic, wrong)
    const differences = await topicDifferences(admin, plan)
    expect(Object.fromEntries(differences.map(({ property, is }) => [property, is]))).toEqual(wrong)
    for (const { topic: of, property, remedy } of differences) {
      expect(of).toBe(topic)
      const value = plan[0]!.configEntries.find(({ name }) => name === property)?.value
      expect(remedy).toContain(
        `--alter --entity-type topics --entity-name ${topic} --add-config ${property}=${value}`,
      )
    }
  })

  it('do not name entries above the plan or equivalent ones', async () => {
    const { prefix, plan } = newPlan()
    await createTopics(admin, plan)
    const more = {
      'cleanup.policy': 'delete',
      'retention.ms': '-1',
      'retention.bytes': '-1',
      'message.timestamp.type': 'LogAppendTime',
      'max.message.bytes': '20000000',
      'compression.type': 'gzip',
    }
    await alter(`${prefix}activity`, more)
    expect(await topicDifferences(admin, plan)).toEqual([])
  })

  it('are found again by a client that knew the topic', async () => {
    const { prefix, plan } = newPlan()
    await createTopics(other, plan)
    expect(await topicDifferences(admin, plan)).toEqual([])
    const topic = `${prefix}activity`
    await other.deleteTopics({ topics: [topic] })
    // A broker names a deleted topic until the deletion has reached its own metadata.
    let differences = await topicDifferences(admin, plan)
    await until(async () => {
      differences = await topicDifferences(admin, plan)
      return differences.length > 0
    })
    expect(differences).toEqual([
      expect.objectContaining({ topic, property: 'topic', is: 'missing' }),
    ])
  })
})

let plans = 0

/** All topics of Weir under a separate prefix. */
function newPlan(options: TopicPlanOptions = { replicationFactor: 1 }) {
  plans += 1
  const prefix = `plan-${process.pid}-${plans}.`
  return { prefix, plan: topicPlan(topicSpecs(prefix, 3), options) }
}

/** Replaces the topic's whole configuration, and waits until the broker's own metadata has it. */
async function alter(topic: string, config: Record<string, string>): Promise<void> {
  const resource = { type: kafkajs.ConfigResourceTypes.TOPIC, name: topic }
  const configEntries = Object.entries(config).map(([name, value]) => ({ name, value }))
  await admin.alterConfigs({ validateOnly: false, resources: [{ ...resource, configEntries }] })
  await until(async () => {
    const { resources } = await admin.describeConfigs({
      includeSynonyms: false,
      resources: [resource],
    })
    const entries = resources[0]?.configEntries ?? []
    return configEntries.every(({ name, value }) =>
      entries.some(({ configName, configValue }) => configName === name && configValue === value),
    )
  })
}
