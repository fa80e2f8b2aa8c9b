// The KafkaTopics that `weir topics plan --as strimzi` prints. acls.unit.test.ts has the KafkaUsers.

import { Writable } from 'node:stream'
import { describe, expect, it } from '@jest/globals'
import { parseAllDocuments } from 'yaml'
import { showPlan } from '../../../../apps/service/topics/topics.ts'
import { topicPlan } from '../../../../shared/bus/kafka/cluster/topic-plan.ts'
import { keptBy, retentionDaysDefault, topicSpecs } from '../../../../shared/contract/retention.ts'

type KafkaTopic = {
  apiVersion: string
  kind: string
  metadata: { name: string; labels: Record<string, string> }
  spec: { topicName: string; partitions: number; replicas?: number; config: Record<string, string> }
}

function printed(options: Partial<Parameters<typeof showPlan>[0]> = {}): KafkaTopic[] {
  let text = ''
  const out = new Writable({
    write(chunk, _, done) {
      text += chunk
      done()
    },
  })
  showPlan(
    { as: 'strimzi', cluster: 'main', partitions: '12', ...options },
    out as unknown as NodeJS.WriteStream,
  )
  return parseAllDocuments(text).map((one) => one.toJS())
}

describe('weir topics plan --as strimzi', () => {
  it('prints a KafkaTopic of v1 for each topic of the plan, with its partitions and configuration', () => {
    const { retentionMs, auditMs } = keptBy({ retentionDays: retentionDaysDefault, auditDays: 400 })
    const specs = topicSpecs('weir.', 12, retentionMs, auditMs)
    const plan = topicPlan(specs, { replicationFactor: 3 })
    expect(printed({ replicationFactor: '3' })).toEqual(
      plan.map(({ topic, configEntries }) => ({
        apiVersion: 'kafka.strimzi.io/v1',
        kind: 'KafkaTopic',
        metadata: { name: topic, labels: { 'strimzi.io/cluster': 'main' } },
        spec: {
          topicName: topic,
          partitions: 12,
          replicas: 3,
          config: Object.fromEntries(configEntries.map(({ name, value }) => [name, value])),
        },
      })),
    )
  })

  it("leaves the copies to the brokers' default, and adds the topics of named guards", () => {
    const topics = printed({ guard: ['shell'], topicPrefix: 'mine.' })
    expect(topics.at(-1)?.metadata.name).toBe('mine.guard-verdicts.shell')
    for (const { spec } of topics) expect(Object.keys(spec)).not.toContain('replicas')
  })

  it('refuses a prefix that no resource of Kubernetes can have', () => {
    expect(() => printed({ topicPrefix: 'Weir_' })).toThrow(
      /'Weir_client-messages'.*--topic-prefix/,
    )
  })
})
