import { describe, expect, it } from '@jest/globals'
import { partitionOf } from '../../../shared/contract/partition.ts'

describe('the partition of a conversation', () => {
  it("matches Kafka's own test vectors", () => {
    // UtilsTest.testMurmur2 of Apache Kafka, as unsigned numbers of 31 bits.
    const vectors: [string, number][] = [
      ['21', -973932308],
      ['foobar', -790332482],
      ['a-little-bit-long-string', -985981536],
      ['a-little-bit-longer-string', -1486304829],
      ['lkjh234lh9fiuh90y23oiuhsafujhadof229phr9h19h89h8', -58897971],
      ['abc', 479470107],
    ]
    for (const [name, hash] of vectors) expect(partitionOf(name, 2 ** 31)).toBe(hash & 0x7fffffff)
  })
})
