// Cases that a single test broker cannot produce: partitions without a leader, missing permissions.
// kafkajs's admin is a fake, with its errors.

import { describe, expect, it } from '@jest/globals'
import kafkajs, { type Admin, type KafkaJSProtocolError } from 'kafkajs'
import {
  createTopics,
  topicDifferences,
  topicsUnfit,
} from '../../../../../shared/bus/kafka/cluster/topic-admin.ts'
import { topicPlan } from '../../../../../shared/bus/kafka/cluster/topic-plan.ts'

const plan = topicPlan(
  [{ name: 'weir.activity', kind: 'log', partitions: 2, retentionMs: 1_000 }],
  { replicationFactor: 0 },
)
const asPlanned = plan[0]!.configEntries.map(({ name, value }) => ({
  configName: name,
  configValue: value,
}))
const partition = (leader: number) => ({ leader, replicas: [1, 2] })
const there = { topics: [{ name: 'weir.activity', partitions: [partition(1), partition(1)] }] }

describe('differences', () => {
  it('are none if all is as planned', async () => {
    expect(await topicDifferences(admin({ metadata: there }), plan)).toEqual([])
  })

  it.each([
    [
      'kafkajs has given up waiting for it',
      () =>
        new kafkajs.KafkaJSNumberOfRetriesExceeded(protocolError('LEADER_NOT_AVAILABLE'), retries),
    ],
    [
      'kafkajs lost the error of a topic that it knows',
      () => new TypeError("Cannot read properties of null (reading 'topicMetadata')"),
    ],
  ])('name a partition without a leader when %s', async (_, error) => {
    expect(await topicDifferences(admin({ metadata: error() }), plan)).toEqual([
      expect.objectContaining({
        topic: 'weir.activity',
        property: 'leader',
        remedy: expect.stringContaining('--unavailable-partitions'),
      }),
    ])
  })

  it('name a partition without a leader', async () => {
    const leaderless = {
      topics: [{ name: 'weir.activity', partitions: [partition(1), partition(-1)] }],
    }
    expect(await topicDifferences(admin({ metadata: leaderless }), plan)).toEqual([
      expect.objectContaining({ property: 'leader' }),
    ])
  })

  it('name a topic with too few copies', async () => {
    const wanting = (replicationFactor: number) =>
      plan.map((planned) => ({ ...planned, replicationFactor }))
    expect(await topicDifferences(admin({ metadata: there }), wanting(2))).toEqual([])
    expect(await topicDifferences(admin({ metadata: there }), wanting(3))).toEqual([
      expect.objectContaining({
        property: 'copies',
        is: '2 of a partition',
        shouldBe: '3 or more',
      }),
    ])
  })

  it('name a topic without permission to describe it', async () => {
    const refused = Object.assign(new kafkajs.KafkaJSNonRetriableError('not authorized'), {
      cause: protocolError('TOPIC_AUTHORIZATION_FAILED'),
    })
    const [difference] = await topicDifferences(admin({ metadata: refused }), plan)
    expect(difference).toMatchObject({
      property: 'access',
      is: 'refused (TOPIC_AUTHORIZATION_FAILED)',
    })
    expect(difference?.remedy).toContain('allow Describe and DescribeConfigs on weir.activity')
  })

  it('name a topic without permission to read its configuration', async () => {
    const refusing = admin({
      metadata: there,
      configs: protocolError('TOPIC_AUTHORIZATION_FAILED'),
    })
    expect(await topicDifferences(refusing, plan)).toEqual([
      expect.objectContaining({ property: 'access' }),
    ])
  })

  it('are not derived from an unreachable broker', async () => {
    const error = new kafkajs.KafkaJSNumberOfRetriesExceeded(
      new Error('connect ECONNREFUSED'),
      retries,
    )
    await expect(topicDifferences(admin({ metadata: error }), plan)).rejects.toBe(error)
  })
})

describe('creation', () => {
  it.each([
    ['TOPIC_AUTHORIZATION_FAILED', 'let an administrator run the commands of weir topics plan'],
    ['POLICY_VIOLATION', "the cluster's policy forbids this configuration"],
    ['INVALID_REPLICATION_FACTOR', 'lower the replication factor'],
  ])('that the broker rejects with %s has a remedy', async (type, remedy) => {
    const refusing = admin({
      metadata: protocolError('UNKNOWN_TOPIC_OR_PARTITION'),
      creation: Object.assign(new Error(), { errors: [protocolError(type)] }),
    })
    await expect(createTopics(refusing, plan)).rejects.toMatchObject({
      code: 'bus.topic-missing',
      message: expect.stringContaining(remedy),
    })
  })

  it.each([
    [0, true],
    [1, true],
    [3, false],
  ])(
    'without enough brokers is retryable only if any broker would do: %d copies',
    async (replicationFactor, retryable) => {
      const wanted = topicPlan(
        [{ name: 'weir.activity', kind: 'log', partitions: 2, retentionMs: 1_000 }],
        { replicationFactor },
      )
      const refusing = admin({
        metadata: protocolError('UNKNOWN_TOPIC_OR_PARTITION'),
        creation: Object.assign(new Error(), {
          errors: [protocolError('INVALID_REPLICATION_FACTOR')],
        }),
      })
      await expect(createTopics(refusing, wanted)).rejects.toMatchObject({
        code: 'bus.topic-missing',
        retryable,
      })
    },
  )
})

describe('the error that differences make', () => {
  it('names a missing topic first, otherwise a topic that differs, and has every remedy', () => {
    const differs = {
      topic: 'a',
      property: 'partitions',
      is: '1',
      shouldBe: '4',
      remedy: 'do this',
    }
    const missing = {
      topic: 'b',
      property: 'topic',
      is: 'missing',
      shouldBe: 'there',
      remedy: 'do that',
    }
    expect(topicsUnfit([differs])).toMatchObject({ code: 'bus.topic-differs' })
    expect(topicsUnfit([differs, missing])).toMatchObject({
      retryable: false,
      code: 'bus.topic-missing',
      message: [
        'Topics do not match the plan.',
        'a: partitions is 1, but must be 4. Fix: do this',
        'b: topic is missing, but must be there. Fix: do that',
      ].join('\n  '),
    })
  })

  it('is retryable if only leaders are missing, as after the start of a broker', () => {
    const leaderless = {
      topic: 'a',
      property: 'leader',
      is: 'missing',
      shouldBe: 'there',
      remedy: 'look',
    }
    const differs = { ...leaderless, property: 'partitions' }
    expect([
      topicsUnfit([leaderless]).retryable,
      topicsUnfit([leaderless, differs]).retryable,
    ]).toEqual([true, false])
  })
})

const retries = { retryCount: 5, retryTime: 300 }

function protocolError(type: string): KafkaJSProtocolError {
  return new kafkajs.KafkaJSProtocolError(
    Object.assign(new Error(type), { type, code: 0, retriable: false }),
  )
}

function admin({
  metadata,
  configs,
  creation,
}: {
  metadata: unknown
  configs?: Error
  creation?: Error
}): Admin {
  return {
    fetchTopicMetadata: async () => {
      if (metadata instanceof Error) throw metadata
      return metadata
    },
    describeConfigs: async () => {
      if (configs !== undefined) throw configs
      return { resources: [{ resourceName: 'weir.activity', configEntries: asPlanned }] }
    },
    createTopics: async () => {
      throw creation
    },
  } as unknown as Admin
}
