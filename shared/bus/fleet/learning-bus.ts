// A bus whose readers learn the schemas of newer processes: the one place that looks up an unknown
// schema. It is below signing, because a signature names the type of its record.
// The subscription of a stage fails before a record of a known schema that this Weir
// cannot read, so nothing is lost.
// An id that the table does not have after the record was read is no Weir's. Decoding
// gives `codec.unknown-schema`.

import { decode, familiarity } from '../../codec/codec.ts'
import type { Bus, StoredRecord } from '../../contract/bus.ts'
import { WeirError } from '../../lib/errors.ts'
import { readsThrough, subscribeThrough } from '../reader-through.ts'
import { learnSchemas } from './schemas-in-log.ts'

export function learningBus(bus: Bus, topicPrefix: string): Bus {
  return {
    ...bus,
    subscribe: subscribeThrough(bus, (reader) => ({
      ...reader,
      async read(records) {
        if (records.some(isNew)) assertReadable(await learned(records))
        return reader.read(records)
      },
    })),
    ...readsThrough(bus, learned),
  }

  async function learned(records: StoredRecord[]): Promise<StoredRecord[]> {
    if (records.some(isUnknown)) await learnSchemas(bus, topicPrefix)
    return records
  }
}

function isNew({ value }: StoredRecord): boolean {
  return value !== null && familiarity(value) !== 'known'
}

function isUnknown({ value }: StoredRecord): boolean {
  return value !== null && familiarity(value) === 'unknown'
}

function assertReadable(records: readonly StoredRecord[]): void {
  for (const { topic, partition, offset, value } of records) {
    if (value === null || familiarity(value) !== 'unreadable') continue
    const reason = reasonOf(value)
    throw new WeirError(
      'codec.newer-schema',
      `stopped before the record ${topic}/${partition}/${offset}, and nothing is lost: ${reason}`,
    )
  }
}

function reasonOf(value: Uint8Array): string {
  try {
    decode(Uint8Array.of(0, ...value.subarray(1)))
  } catch (error) {
    return error instanceof Error ? error.message : String(error)
  }
  return 'the schema of the record cannot be read: upgrade this process'
}
