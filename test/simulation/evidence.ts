// The input of the checkers: the bytes of the topics, decoded once, all accepted commits, and the
// world's ledger.

import { decode } from '../../shared/codec/codec.ts'
import type { StoredRecord } from '../../shared/contract/bus.ts'
import type { Message, MessageOf, MessageType } from '../../shared/contract/messages.ts'
import { type TopicName, topics } from '../../shared/contract/topology.ts'
import type { Broker, CommitMade } from './broker.ts'
import type { Ledger } from './world/ledger.ts'

/** `message`: undefined for invalid bytes. */
export type Found = { record: StoredRecord; message: Message | undefined }

export type Evidence = {
  readonly topicPrefix: string
  readonly partitions: number
  /** Records of one partition of a topic, in order. */
  of(topic: TopicName, partition: number): Found[]
  /** All records of one type in a topic, repeats included. */
  all<T extends MessageType>(
    topic: TopicName,
    type: T,
  ): { record: StoredRecord; message: MessageOf<T> }[]
  readonly commits: readonly CommitMade[]
  readonly ledger: Ledger
  /** Whether a stranger wrote the record: invalid bytes, or a forged id. */
  isGarbage(record: StoredRecord): boolean
}

export type Checker = {
  name: string
  /** The violations, worst first. Empty: none. */
  check(evidence: Evidence): Finding[] | Promise<Finding[]>
}

export type Finding = { problem: string; conversation?: string | undefined }

export function collectEvidence(given: {
  broker: Broker
  ledger: Ledger
  topicPrefix: string
  partitions: number
}): Evidence {
  const { broker, ledger, topicPrefix, partitions } = given
  const found = new Map<string, Found[][]>()
  const garbage = new Set(ledger.garbage.map(placeOf))
  for (const topic of Object.keys(topics))
    found.set(
      topic,
      Array.from({ length: partitions }, (_, partition) =>
        broker
          .records(topicPrefix + topic, partition)
          .map((record) => ({ record, message: decoded(record) })),
      ),
    )
  return {
    topicPrefix,
    partitions,
    of: (topic, partition) => found.get(topic)?.[partition] ?? [],
    all: (topic, type) => (found.get(topic) ?? []).flat().filter(isOf(type)),
    commits: broker.commits,
    ledger,
    isGarbage: (record) => garbage.has(placeOf(record)),
  }
}

function placeOf({
  topic,
  partition,
  offset,
}: Pick<StoredRecord, 'topic' | 'partition' | 'offset'>) {
  return `${topic}/${partition}/${offset}`
}

function isOf<T extends MessageType>(type: T) {
  return (found: Found): found is { record: StoredRecord; message: MessageOf<T> } =>
    found.message?.type === type
}

function decoded({ value }: StoredRecord): Message | undefined {
  if (value === null) return undefined
  try {
    return decode(value)
  } catch {
    return undefined
  }
}
