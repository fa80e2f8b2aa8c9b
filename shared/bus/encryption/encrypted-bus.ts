// A bus whose values are encrypted in the log: the one place that encrypts and decrypts them.
// The subscription of a stage fails at a record whose key it does not have, so nothing
// is lost.
// A client stops no stage: its message with an unknown key becomes a dead letter.
// Other readers get a value that they cannot decrypt as it is. Decoding it gives
// `codec.encrypted`.
// Appends keep the order of their calls, although some wait for a key.

import { encryptedByte } from '../../codec/codec.ts'
import type { Bus, RecordToAppend, StoredRecord } from '../../contract/bus.ts'
import { readerThrough, readsThrough, subscribeThrough } from '../reader-through.ts'
import type { Encryption } from './encryption.ts'
import { createHiddenTally } from './hidden-tally.ts'
import { createOrder, createSealing, type Opening } from './sealing.ts'

export function encryptedBus(bus: Bus, encryption: Encryption, topicPrefix: string): Bus {
  const { addedBytesMax, isOfClients } = encryption
  const sealing = createSealing(bus, encryption, topicPrefix)
  const tally = createHiddenTally()
  const inOrder = createOrder()
  const hasKeys = addedBytesMax > 0
  const outgoing = (outputs: RecordToAppend[]) =>
    hasKeys ? sealing.sealed(outputs, { begins: false }) : outputs

  return {
    ...bus,
    hidden: tally.all,
    recordBytesMax: bus.recordBytesMax - addedBytesMax,

    async append(records, options) {
      if (!hasKeys) return bus.append(records, options)
      const sealed = inOrder(() => sealing.sealed(records, { begins: true }))
      return sealed.then((all) => bus.append(all, options))
    },

    subscribe: subscribeThrough(bus, (reader, topic) => {
      const missing = isOfClients(topic) ? 'leave' : 'throw'
      return readerThrough(reader, (records) => opened(records, { missing }), outgoing)
    }),

    ...readsThrough(bus, (records) => opened(records, { missing: 'leave', see: tally.see })),
  }

  function opened(records: StoredRecord[], opening: Opening<StoredRecord>) {
    const isHidden = records.some(({ value }) => value?.[0] === encryptedByte)
    return isHidden ? sealing.opened(records, opening) : records
  }
}
