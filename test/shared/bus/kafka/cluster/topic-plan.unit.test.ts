import { describe, expect, it } from '@jest/globals'
import {
  batchBytesMax,
  batchOverheadBytes,
  kafkaTopicsLines,
  shellWord,
  topicPlan,
} from '../../../../../shared/bus/kafka/cluster/topic-plan.ts'
import type { TopicSpec } from '../../../../../shared/contract/bus.ts'
import { limits } from '../../../../../shared/contract/limits.ts'
import { topicSpecs } from '../../../../../shared/contract/retention.ts'

const log: TopicSpec = { name: 'weir.activity', kind: 'log', partitions: 4, retentionMs: 1_000_000 }
const table: TopicSpec = { name: 'weir.history', kind: 'table', partitions: 4 }

describe('the plan of the topics', () => {
  it("keeps a log by age alone for the configured time, with the broker's timestamps", () => {
    const [planned] = topicPlan([log], { replicationFactor: 0, recordBytesMax: 1_000 })
    expect(planned).toMatchObject({
      topic: 'weir.activity',
      numPartitions: 4,
      replicationFactor: -1,
    })
    expect(config(log)).toEqual({
      'cleanup.policy': 'delete',
      'retention.ms': '1000000',
      'retention.bytes': '-1',
      'message.timestamp.type': 'LogAppendTime',
      'max.message.bytes': String(limits.recordBytesMax + batchOverheadBytes),
      'compression.type': 'uncompressed',
      'unclean.leader.election.enable': 'false',
    })
  })

  it('keeps a log without a retention until somebody deletes its records, against the default of brokers', () => {
    expect(config({ ...log, retentionMs: undefined })).toMatchObject({ 'retention.ms': '-1' })
  })

  it('keeps the newest value of each key of a table, and deletions as long as a log', () => {
    expect(config(table, [log, table])).toMatchObject({
      'cleanup.policy': 'compact',
      'delete.retention.ms': '1000000',
    })
    expect(config(table, [log, table])).not.toHaveProperty('retention.ms')
    expect(config(table)).not.toHaveProperty('delete.retention.ms')
  })

  it('lets brokers keep a deleted key of a conversation for ten minutes at most', () => {
    const specs = topicSpecs('', 4)
    const lags = topicPlan(specs, { replicationFactor: 0 }).flatMap(({ topic, configEntries }) =>
      configEntries.some(
        ({ name, value }) => name === 'max.compaction.lag.ms' && value === '600000',
      )
        ? [topic]
        : [],
    )
    expect(lags).toEqual(['conversation-keys'])
  })

  it('requires a record on two brokers if there are three copies or more', () => {
    expect(config(log, [log], 2)).not.toHaveProperty('min.insync.replicas')
    expect(config(log, [log], 3)).toMatchObject({ 'min.insync.replicas': '2' })
  })

  it('accepts a batch of one largest record', () => {
    expect(batchBytesMax(1_000)).toBe(1_000 + batchOverheadBytes)
  })

  it('gives every entry of every topic of Weir a reason', () => {
    const entries = topicPlan(topicSpecs('weir.', 4), { replicationFactor: 3 }).flatMap(
      ({ configEntries }) => configEntries,
    )
    expect(entries.filter(({ reason }) => reason.length < 20)).toEqual([])
  })
})

describe("the lines for Kafka's own tool", () => {
  it('contain the plan, one topic a line', () => {
    const plan = topicPlan([table], { replicationFactor: 3 })
    expect(kafkaTopicsLines(plan, ['--bootstrap-server', 'one:9092'])).toEqual([
      [
        'kafka-topics.sh --bootstrap-server one:9092 --create --if-not-exists --topic weir.history --partitions 4 --replication-factor 3',
        '--config cleanup.policy=compact --config message.timestamp.type=LogAppendTime --config max.message.bytes=10551296',
        '--config compression.type=uncompressed --config unclean.leader.election.enable=false --config min.insync.replicas=2',
      ].join(' '),
    ])
  })

  it('omit the number of copies if it is not configured', () => {
    expect(kafkaTopicsLines(topicPlan([table], { replicationFactor: 0 }), [])[0]).not.toContain(
      '--replication-factor',
    )
  })

  it('quote text that a shell would split', () => {
    expect(
      kafkaTopicsLines(topicPlan([table], { replicationFactor: 0 }), [
        '--command-config',
        'my client.properties',
      ])[0],
    ).toContain("--command-config 'my client.properties' --create")
    expect(['a b', "it's", '$(x)', '', 'plain-1.txt'].map(shellWord)).toEqual([
      "'a b'",
      `'it'\\''s'`,
      "'$(x)'",
      "''",
      'plain-1.txt',
    ])
  })
})

function config(spec: TopicSpec, specs = [spec], replicationFactor = 0): Record<string, string> {
  const planned = topicPlan(specs, { replicationFactor }).find(({ topic }) => topic === spec.name)
  return Object.fromEntries(planned!.configEntries.map(({ name, value }) => [name, value]))
}
