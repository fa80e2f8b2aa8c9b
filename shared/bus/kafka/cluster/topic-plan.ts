// The topics of a deployment on Kafka, and the configuration that each needs. Pure; topic-admin.ts
// creates and compares.
// A record's time is the broker's, so writers' clocks decide nothing (R2).
// An acknowledged record stays until it is too old for any turn: the log is the lock
// (R4), and a restart folds it again (R1).
// Every record of Weir fits. Brokers decompress every foreign batch, so no codec is
// unreadable. Weir does not compress, so its own records cost nothing.

import type { TopicKind, TopicSpec } from '../../../contract/bus.ts'
import { limits } from '../../../contract/limits.ts'

/** `reason`: why Weir needs it, for the user. */
export type TopicConfig = { name: string; value: string; reason: string }

/** Also the argument of createTopics in kafkajs. */
export type PlannedTopic = {
  topic: string
  kind: TopicKind
  numPartitions: number
  /** -1: the default of the brokers. */
  replicationFactor: number
  configEntries: TopicConfig[]
}

export type TopicPlanOptions = {
  /** Copies of each partition. 0: the default of the brokers. */
  replicationFactor: number
  /** The largest value of one record; a batch of one such record fits. */
  recordBytesMax?: number
}

/**
 * The bytes of a batch with one record besides its value: Kafka's own fields, the key and the
 * headers.
 */
export const batchOverheadBytes = 64 * 1024

/** The largest batch in a topic of the plan. The bus writes none that is larger. */
export function batchBytesMax(recordBytesMax: number = limits.recordBytesMax): number {
  return recordBytesMax + batchOverheadBytes
}

/** In the order of `specs`. */
export function topicPlan(
  specs: TopicSpec[],
  { replicationFactor, recordBytesMax }: TopicPlanOptions,
): PlannedTopic[] {
  const shortest = Math.min(...specs.flatMap(({ retentionMs }) => retentionMs ?? []))
  return specs.map((spec) => ({
    topic: spec.name,
    kind: spec.kind,
    numPartitions: spec.partitions,
    replicationFactor: replicationFactor === 0 ? -1 : replicationFactor,
    configEntries: [
      ...(spec.kind === 'log' ? logConfig(spec) : tableConfig(spec, shortest)),
      {
        name: 'message.timestamp.type',
        value: 'LogAppendTime',
        reason: "a record's time is the broker's, never a writer's",
      },
      {
        name: 'max.message.bytes',
        value: String(batchBytesMax(recordBytesMax)),
        reason: 'the largest record of Weir fits',
      },
      {
        name: 'compression.type',
        value: 'uncompressed',
        reason: 'brokers decompress the batches of others, also with codecs that Weir cannot read',
      },
      {
        name: 'unclean.leader.election.enable',
        value: 'false',
        reason: 'no acknowledged record is lost',
      },
      ...copiesConfig(replicationFactor),
    ],
  }))
}

function logConfig({ retentionMs }: TopicSpec): TopicConfig[] {
  return [
    {
      name: 'cleanup.policy',
      value: 'delete',
      reason: 'a log keeps every record until it is too old for any turn',
    },
    {
      name: 'retention.bytes',
      value: '-1',
      reason: 'records are deleted by age alone, not by size',
    },
    retentionMs === undefined
      ? {
          name: 'retention.ms',
          value: '-1',
          reason: 'records are kept until somebody deletes them',
        }
      : {
          name: 'retention.ms',
          value: String(retentionMs),
          reason: 'the longest turn and the tolerated downtime fit into it',
        },
  ]
}

/** `retentionMs`: of the logs. Infinity: not limited. */
function tableConfig({ compactedMs }: TopicSpec, retentionMs: number): TopicConfig[] {
  const config = [
    {
      name: 'cleanup.policy',
      value: 'compact',
      reason: 'a table keeps the newest value of every key',
    },
  ]
  if (compactedMs !== undefined) {
    const reason = 'the brokers remove the bytes of a deleted key soon'
    config.push({ name: 'max.compaction.lag.ms', value: String(compactedMs), reason })
  }
  if (retentionMs === Number.POSITIVE_INFINITY) return config
  const reason = 'a reader that was away still sees the deletions'
  return [...config, { name: 'delete.retention.ms', value: String(retentionMs), reason }]
}

/** With three copies one broker may fail: writers continue, and no record is lost. */
function copiesConfig(replicationFactor: number): TopicConfig[] {
  if (replicationFactor < 3) return []
  return [
    {
      name: 'min.insync.replicas',
      value: '2',
      reason: 'an acknowledged record is on at least two brokers',
    },
  ]
}

/**
 * The plan as commands of Kafka's own tool, for users who may not let Weir create topics.
 * `connection`: flags such as --bootstrap-server.
 */
export function kafkaTopicsLines(plan: PlannedTopic[], connection: string[]): string[] {
  return plan.map(({ topic, numPartitions, replicationFactor, configEntries }) =>
    [
      'kafka-topics.sh',
      ...connection,
      ...['--create', '--if-not-exists', '--topic', topic, '--partitions', String(numPartitions)],
      ...(replicationFactor === -1 ? [] : ['--replication-factor', String(replicationFactor)]),
      ...configEntries.flatMap(({ name, value }) => ['--config', `${name}=${value}`]),
    ]
      .map(shellWord)
      .join(' '),
  )
}

/** One word of a POSIX shell. */
export function shellWord(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`
}
