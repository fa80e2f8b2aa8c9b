// The partition of a conversation, by the hash of Kafka's Java client, so producers in any language
// agree. The deep import is safe because kafkajs is pinned. Importing all of kafkajs takes 50 ms,
// which the embedded bus need not pay.

// @ts-expect-error kafkajs has no types for its inner files
import murmur2 from 'kafkajs/src/producer/partitioners/default/murmur2.js'

import { type ConversationId, callConversationIdBytesMax } from './ids.ts'

/**
 * A cache by conversation: each round needs the partition again, and the hash costs as much as a
 * small record. Longer names are not conversations.
 */
const hashes = new Map<string, number>()
const hashesMax = 10_000

/** The partition of a conversation among `partitions`. */
export function partitionOf(conversation: ConversationId, partitions: number): number {
  if (partitions === 1) return 0
  let hash = hashes.get(conversation)
  if (hash === undefined) {
    hash = (murmur2 as (key: Buffer) => number)(Buffer.from(conversation)) & 0x7fffffff
    if (hashes.size >= hashesMax) hashes.clear()
    if (conversation.length <= callConversationIdBytesMax) hashes.set(conversation, hash)
  }
  return hash % partitions
}

/** The name of a partition among those of all topics. */
export function partitionName({ topic, partition }: { topic: string; partition: number }): string {
  return `${topic}/${partition}`
}

/** The partitions of a topic. `of`: that of a conversation. */
export type Partitions = { count: number; of(conversation: ConversationId): number }

export function partitionsOf(count: number): Partitions {
  return { count, of: (conversation) => partitionOf(conversation, count) }
}
