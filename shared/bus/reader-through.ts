// A partition's reader behind a bus that changes records on their way, such as by signing them.

import type { PartitionReader, RecordToAppend, StoredRecord } from '../contract/bus.ts'

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
