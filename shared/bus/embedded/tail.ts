// The newest records of a partition as they were written, so that the readers of this process, who
// mostly want just these, need not ask SQLite for what it was given a moment ago: a fifth of the
// pipeline's CPU time.
// EMBEDDED-TAIL-1. What is in here is in the file: records come in after their transaction, in
//     offset order without a gap.
// EMBEDDED-TAIL-2. It is bounded; whoever wants older ones reads the file.

import type { Offset, StoredRecord } from '../../contract/bus.ts'

export type Tail = {
  /** The next record of the partition. */
  push(record: StoredRecord): void
  /**
   * Undefined: it does not reach back to `from`. `bytesMax`: after the record that reaches it, no
   * more are taken.
   */
  read(range: {
    from: Offset
    to: Offset
    limit: number
    bytesMax?: number | undefined
  }): StoredRecord[] | undefined
  /** The newest record under a key, if it is among the newest few of all. */
  newest(key: string): StoredRecord | undefined
  /** What is in the file has changed otherwise. */
  clear(): void
}

/**
 * Who asks for a key by name mostly asks for what was written last; to look at more would take
 * longer than to ask SQLite.
 */
const newestLookedAt = 64

/** `bytesMax`: bytes of values, counting some for each record, that are kept. */
export function createTail(bytesMax: number): Tail {
  let records: StoredRecord[] = []
  /** What is before it was dropped, and is still in the array until it is half of it. */
  let head = 0
  let bytes = 0

  return {
    push(record) {
      records.push(record)
      bytes += sizeOf(record)
      while (bytes > bytesMax && head < records.length) {
        bytes -= sizeOf(records[head] as StoredRecord)
        head += 1
      }
      if (head > 64 && head * 2 > records.length) {
        records = records.slice(head)
        head = 0
      }
    },

    read({ from, to, limit, bytesMax: batchBytesMax = Number.POSITIVE_INFINITY }) {
      const first = records[head]
      if (first === undefined || from < first.offset) return undefined
      const batch: StoredRecord[] = []
      let batchBytes = 0
      for (
        let at = head + from - first.offset;
        at < records.length && batch.length < limit && batchBytes < batchBytesMax;
        at++
      ) {
        const record = records[at] as StoredRecord
        if (record.offset >= to) break
        batch.push(record)
        batchBytes += record.value?.byteLength ?? 0
      }
      return batch
    },

    newest(key) {
      const least = Math.max(head, records.length - newestLookedAt)
      for (let at = records.length - 1; at >= least; at -= 1)
        if (records[at]?.key === key) return records[at]
      return undefined
    },

    clear() {
      records = []
      head = 0
      bytes = 0
    },
  }
}

/** A record without a value takes memory too. */
function sizeOf({ value }: StoredRecord): number {
  return 200 + (value?.byteLength ?? 0)
}
