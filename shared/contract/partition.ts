// Which partition a conversation lives in. The same hash as Kafka's Java client, so that a producer
// in any language agrees. The deep import is safe: kafkajs is pinned, and importing its front door
// costs 50 ms that the embedded bus need not pay.

// @ts-expect-error kafkajs has no types for its inner files
import murmur2 from 'kafkajs/src/producer/partitioners/default/murmur2.js'

import { limits } from './limits.ts'

/**
 * Of conversations that were asked for: each round of one asks again, and that hash costs as much
 * as a small record. Longer names are no conversation's.
 */
const hashes = new Map<string, number>()
const hashesMax = 10_000

/** The partition of a conversation among `partitions`. */
export function partitionOf(conversation: string, partitions: number): number {
  let hash = hashes.get(conversation)
  if (hash === undefined) {
    hash = (murmur2 as (key: Buffer) => number)(Buffer.from(conversation)) & 0x7fffffff
    if (hashes.size >= hashesMax) hashes.clear()
    if (conversation.length <= limits.conversationIdBytesMax) hashes.set(conversation, hash)
  }
  return hash % partitions
}
