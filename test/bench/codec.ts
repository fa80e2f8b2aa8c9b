// The cost of encoding and decoding a record, against JSON of the same message, and of encrypting and
// decrypting it. Run alone: node test/bench/codec.ts
//
// Not measured: a cold process, in which avsc first builds the types.

import { createEncryption } from '../../shared/bus/encryption/encryption.ts'
import { decode, encode } from '../../shared/codec/codec.ts'
import type { Message } from '../../shared/contract/messages.ts'
import { modelRequest } from '../support/messages.ts'
import type { Row } from './row.ts'

const part: Message = {
  type: 'part',
  conversation: 'conversation-1',
  turn: 12,
  round: 3,
  attempt: '0123456789abcdef0123456789abcdef',
  i: 7,
  events: Array.from({ length: 6 }, (_, i) => ({
    kind: 'call_arguments' as const,
    index: 0,
    id: null,
    name: null,
    text: `piece number ${i}, `,
  })),
}

export function benchCodec(): Row[] {
  return [...rowsFor('part with 6 events', part), ...rowsFor('model-request', modelRequest())]
}

function rowsFor(name: string, message: Message): Row[] {
  const bytes = encode(message)
  const json = JSON.stringify(message)
  const encoding = nanoseconds(() => encode(message))
  const decoding = nanoseconds(() => decode(bytes))
  return [
    {
      name: `codec: encode a ${name} (${bytes.length} bytes)`,
      value: encoding,
      unit: 'ns',
      baseline: `Buffer.from(JSON.stringify()) (${json.length} bytes)`,
      ratio: encoding / nanoseconds(() => Buffer.from(JSON.stringify(message))),
    },
    {
      name: `codec: decode a ${name}`,
      value: decoding,
      unit: 'ns',
      baseline: 'JSON.parse',
      ratio: decoding / nanoseconds(() => JSON.parse(json)),
    },
    encryptionRow(name, bytes, encoding + decoding),
  ]
}

/** As written by one process and read by another. `codecNs`: to encode and decode it. */
function encryptionRow(name: string, value: Uint8Array, codecNs: number): Row {
  const keys = new Map([['*', [{ name: 'bench', key: Buffer.alloc(32, 1) }]]])
  const [writer, reader] = [createEncryption(keys, ''), createEncryption(keys, '')]
  const record = { topic: 'activity', partition: 0, key: 'conversation-1', value }
  const both = nanoseconds(() => reader.decrypted(writer.encrypted(record), 'throw'))
  return {
    name: `codec: encrypt and decrypt a ${name}`,
    value: both,
    unit: 'ns',
    baseline: 'encoding and decoding it',
    ratio: both / codecNs,
  }
}

function nanoseconds(run: () => unknown): number {
  const times = 100_000
  for (let i = 0; i < times; i++) run()
  const began = process.hrtime.bigint()
  for (let i = 0; i < times; i++) run()
  return Number(process.hrtime.bigint() - began) / times
}

if (import.meta.main) console.table(benchCodec())
