import { expect, it } from '@jest/globals'
// @ts-expect-error kafkajs declares no types of its inside
import crc32cOfKafkajs from 'kafkajs/src/protocol/recordBatch/crc32C/crc32C.js'
import { crc32c } from '../../../../../shared/bus/kafka/protocol/crc32c.ts'

it('has the check value of the standard', () => {
  expect(crc32c(Buffer.from('123456789'))).toBe(0xe3069283)
})

it('is equal to that of kafkajs for every length around eight bytes, and at every begin', () => {
  const bytes = Buffer.from(Array.from({ length: 64 }, (_, n) => (n * 151 + 7) % 256))
  for (let from = 0; from < 9; from += 1)
    for (let to = from; to <= bytes.length; to += 1)
      expect(crc32c(bytes.subarray(from, to))).toBe(crc32cOfKafkajs(bytes.subarray(from, to)))
})
