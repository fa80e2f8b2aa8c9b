// A bus whose values are encrypted in the log: the one place that encrypts and decrypts them.
// ENCRYPTED-BUS-1. The subscription of a stage fails at a record whose key it does not have, so nothing
//     is lost.
// ENCRYPTED-BUS-2. A client stops no stage: its message with an unknown key becomes a dead letter.
// ENCRYPTED-BUS-3. Other readers get a value that they cannot decrypt as it is. Decoding it gives
//     `codec.encrypted`.

import { encryptedByte } from '../../codec/codec.ts'
import type { Bus, StoredRecord } from '../../contract/bus.ts'
import { readerThrough, readsThrough, subscribeThrough } from '../reader-through.ts'
import type { Encryption } from './encryption.ts'
import { createHiddenTally } from './hidden-tally.ts'

export function encryptedBus(
  bus: Bus,
  { encrypted, decrypted, hiddenBy, addedBytesMax, isOfClients }: Encryption,
): Bus {
  const tally = createHiddenTally(hiddenBy)
  const readable = (records: StoredRecord[]) => {
    const found = opened(records, 'leave')
    for (const record of found) tally.see(record)
    return found
  }
  return {
    ...bus,
    hidden: tally.all,
    recordBytesMax: bus.recordBytesMax - addedBytesMax,
    append: async (records, options) => bus.append(records.map(encrypted), options),
    subscribe: subscribeThrough(bus, (reader, topic) => {
      const missing = isOfClients(topic) ? 'leave' : 'throw'
      return readerThrough(reader, (records) => opened(records, missing), encrypted)
    }),
    ...readsThrough(bus, readable),
  }

  function opened(records: StoredRecord[], missing: 'leave' | 'throw'): StoredRecord[] {
    const isHidden = records.some(({ value }) => value?.[0] === encryptedByte)
    return isHidden ? records.map((record) => decrypted(record, missing)) : records
  }
}
