// A bus that changes records on their way, such as by signing or encrypting them: its partitions' readers,
// and its other reads.

import type { Bus, PartitionReader, RecordToAppend, StoredRecord } from '../contract/bus.ts'

/** `change`: gets each reader that a subscription assigns. */
export function subscribeThrough(
  bus: Pick<Bus, 'subscribe'>,
  change: (reader: PartitionReader, topic: string) => PartitionReader,
): Bus['subscribe'] {
  return (options) =>
    bus.subscribe({
      ...options,
      assign: async (assignment) => change(await options.assign(assignment), options.topic),
    })
}

/** `incoming`: the records that the reader gets. `outgoing`: each of its outputs, for the log. */
export function readerThrough(
  reader: PartitionReader,
  incoming: (records: StoredRecord[]) => StoredRecord[],
  outgoing: (record: RecordToAppend) => RecordToAppend,
): PartitionReader {
  return {
    ...reader,
    async read(records) {
      const step = await reader.read(incoming(records))
      return { ...step, outputs: step.outputs.map(outgoing) }
    },
  }
}

/** The reads outside of subscriptions. `change`: keeps the number of the records. */
export function readsThrough(
  bus: Bus,
  change: (records: StoredRecord[]) => StoredRecord[] | Promise<StoredRecord[]>,
): Pick<Bus, 'read' | 'follow' | 'list' | 'get'> {
  return {
    read: async (range) => change(await bus.read(range)),
    async *follow(range) {
      for await (const records of bus.follow(range)) yield await change(records)
    },
    list: async (table) => change(await bus.list(table)),
    async get(table) {
      const record = await bus.get(table)
      return record && (await change([record]))[0]
    },
  }
}
