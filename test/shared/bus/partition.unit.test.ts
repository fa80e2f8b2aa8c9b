import { describe, expect, it } from '@jest/globals'
// @ts-expect-error kafkajs has no types for its inner files
import murmur2 from 'kafkajs/src/producer/partitioners/default/murmur2.js'
import { partitionOf } from '../../../shared/bus/partition.ts'

describe('the partition of a conversation', () => {
  it("is the one that Kafka's clients choose, for names of every length and script", () => {
    const theirs = (name: string, partitions: number) => ((murmur2 as (key: Buffer) => number)(Buffer.from(name)) & 0x7fffffff) % partitions
    const alphabet = [...'aZ09-_/ {"ß\u00ff€漢🙂\u0000']
    const names = Array.from({ length: 1_000 }, (_, i) =>
      Array.from({ length: i % 40 }, (_, at) => alphabet[(at * (i + 3) + i * i) % alphabet.length]).join(''),
    )
    for (const partitions of [1, 4, 7, 2 ** 31 - 1])
      expect(names.map((name) => partitionOf(name, partitions))).toEqual(names.map((name) => theirs(name, partitions)))
  })

  it("is the one of Kafka's own test vectors", () => {
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
