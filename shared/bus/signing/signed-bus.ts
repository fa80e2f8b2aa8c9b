// A bus whose records are signed: the one place that signs and checks them. Tables are checked where
// the bus keeps their copies (`accepts` of the bus), so a forged record hides no genuine one.
// A subscription gets a record with a wrong signature with the reason (`refused`): the
// fold writes its dead letter. A follower does not get it. `read` gives the log as it is.

import type { Logger } from 'pino'
import type { Bus, StoredRecord, SubscribeOptions } from '../../contract/bus.ts'
import { WeirError } from '../../lib/errors.ts'
import { readerThrough, subscribeThrough } from '../reader-through.ts'
import type { Signing } from './signing.ts'

export function signedBus(bus: Bus, signing: Signing, log: Logger): Bus {
  const { signed, checks, faultOf } = signing
  const accepts = acceptsSigned(signing, log)
  const subscribe = subscribeThrough(bus, (reader, topic) => {
    const isChecked = checks(topic)
    const incoming = (records: StoredRecord[]) => (isChecked ? records.map(checked) : records)
    return readerThrough(reader, incoming, (outputs) => outputs.map(signed))
  })
  return {
    ...bus,
    provesWriters: checks,
    append: (records, options) => bus.append(records.map(signed), options),

    async subscribe(options) {
      assertChecks(options)
      return subscribe(options)
    },

    async *follow(range) {
      for await (const records of bus.follow(range)) {
        const accepted = records.filter(accepts)
        if (accepted.length > 0) yield accepted
      }
    },
  }

  function assertChecks({ topic, group, takesUnproved = false }: SubscribeOptions): void {
    if (checks(topic) || takesUnproved) return
    throw new WeirError(
      'settings.invalid',
      `${group} decides by the records of ${topic}, and this process has no keys to check them: let recordSigning name a folder that also has the key file of the stage that reads ${topic}`,
    )
  }

  function checked(record: StoredRecord): StoredRecord {
    const refused = faultOf(record)
    return refused === undefined ? record : { ...record, refused }
  }
}

/** Whether a table or a follower takes the record: the topic is not checked, or the signature fits. */
export function acceptsSigned(
  { checks, faultOf }: Signing,
  log: Logger,
): (record: StoredRecord) => boolean {
  return (record) => {
    const fault = checks(record.topic) ? faultOf(record) : undefined
    if (fault === undefined) return true
    const { topic, partition, offset } = record
    log.warn({ topic, partition, offset }, `ignored a record: ${fault}`)
    return false
  }
}
