// Which partition a conversation lives in. The same hash as Kafka's Java client, so that a producer in any language agrees.
// The deep import is safe: kafkajs is pinned, and importing its front door costs 50 ms that the embedded bus need not pay.

// @ts-expect-error kafkajs has no types for its inner files
import murmur2 from 'kafkajs/src/producer/partitioners/default/murmur2.js'

/** The partition of a conversation among `partitions`. */
export function partitionOf(conversation: string, partitions: number): number {
  return ((murmur2 as (key: Buffer) => number)(Buffer.from(conversation)) & 0x7fffffff) % partitions
}
