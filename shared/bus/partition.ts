// Which partition a conversation lives in. The same hash as Kafka's Java client, so that a producer in any language agrees.
// It is our own, and held to kafkajs's in a test: that one counts in objects of 64 bits, and cost as much as a small record.

/** The partition of a conversation among `partitions`. */
export function partitionOf(conversation: string, partitions: number): number {
  return (murmur2(Buffer.from(conversation)) & 0x7fffffff) % partitions
}

const seed = 0x9747b28c
const factor = 0x5bd1e995

/** MurmurHash2 with 32 bits, as org.apache.kafka.common.utils.Utils has it. */
function murmur2(bytes: Buffer): number {
  let hash = seed ^ bytes.length
  let at = 0
  for (; at + 4 <= bytes.length; at += 4) {
    const mixed = Math.imul(bytes.readInt32LE(at), factor)
    hash = Math.imul(hash, factor) ^ Math.imul(mixed ^ (mixed >>> 24), factor)
  }
  if (at < bytes.length) hash = Math.imul(hash ^ bytes.readUIntLE(at, bytes.length - at), factor)
  hash = Math.imul(hash ^ (hash >>> 13), factor)
  return hash ^ (hash >>> 15)
}
