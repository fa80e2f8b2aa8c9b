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

type Change<One> = (records: One[]) => One[] | Promise<One[]>

/** `incoming`: the records that the reader gets. `outgoing`: its outputs, for the log. */
export function readerThrough(
  reader: PartitionReader,
  incoming: Change<StoredRecord>,
  outgoing: Change<RecordToAppend>,
): PartitionReader {
  return {
    ...reader,
    async read(records) {
      const changed = incoming(records)
      const step = await reader.read(changed instanceof Promise ? await changed : changed)
      const outputs = outgoing(step.outputs)
      return { ...step, outputs: outputs instanceof Promise ? await outputs : outputs }
    },
  }
}

/** The reads outside of subscriptions. `change`: keeps the number of the records. */
export function readsThrough(
  bus: Bus,
  change: Change<StoredRecord>,
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
