// The appends that wait for a transaction. Owns: their order, and how many go into one transaction.

import type { Appended, RecordToAppend, StoredRecord } from '../../contract/bus.ts'
import type { WeirError } from '../../lib/errors.ts'
import { asBusError } from './failure.ts'
import type { Log } from './log/log.ts'

/** The bounds of one transaction, so that a long queue does not hold up everything else. */
const transactionRecordsMax = 4096
const transactionBytesMax = 16 * 1024 * 1024

export type AppendQueue = {
  /** Resolves when the records are written. Rejects when their only try fails. */
  push(records: RecordToAppend[], bytes: number): Promise<Appended[]>
  /** Writes the oldest appends in one transaction: at least one, if there is one. */
  flush(): void
  isEmpty(): boolean
  /** Bytes of all values that wait. */
  bytes(): number
}

type Append = {
  records: RecordToAppend[]
  bytes: number
  written(appended: Appended[]): void
  failed(error: WeirError): void
}

/** `write`: one transaction. */
export function createAppendQueue(
  log: Pick<Log, 'file' | 'stage' | 'unstage'>,
  write: (records: StoredRecord[]) => void,
): AppendQueue {
  const appends: Append[] = []
  let queueBytes = 0

  function takeAppends(): Append[] {
    let records = 0
    let bytes = 0
    let count = 0
    for (const job of appends) {
      records += job.records.length
      bytes += job.bytes
      if (count > 0 && (records > transactionRecordsMax || bytes > transactionBytesMax)) break
      count += 1
    }
    const jobs = appends.splice(0, count)
    for (const job of jobs) queueBytes -= job.bytes
    return jobs
  }

  return {
    push(records, bytes) {
      return new Promise((written, failed) => {
        appends.push({ records, bytes, written, failed })
        queueBytes += bytes
      })
    },

    flush() {
      const jobs = takeAppends()
      if (jobs.length === 0) return
      const staged = jobs.map(({ records }) => log.stage(records))
      try {
        write(staged.flat())
      } catch (error) {
        log.unstage()
        const failure = asBusError(error, log.file)
        for (const job of jobs) job.failed(failure)
        return
      }
      for (const [n, job] of jobs.entries()) job.written(placesOf(staged[n] ?? []))
    },

    isEmpty: () => appends.length === 0,
    bytes: () => queueBytes,
  }
}

export function placesOf(records: StoredRecord[]): Appended[] {
  return records.map(({ partition, offset, time }) => ({ partition, offset, time }))
}
