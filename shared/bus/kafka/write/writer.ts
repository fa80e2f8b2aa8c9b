// The one place that writes records. Each call is checked (write-admission.ts), waits for its
// acknowledgements (pending-writes.ts), and its records go through a queue per partition
// (partition-queues.ts) into requests (sending.ts).
// Records reach a partition in the order of the calls, and in their order within
// a call.
// A failed batch is retried first in its queue. After deliverMs, all that waits for
// its partition fails, so nothing overtakes. The caller decides about retries.
// After a failure a record may be in the log twice: only its response was lost.
// Readers drop repeats (R3).
// Waiting bytes are bounded: append then rejects with a retryable `bus.full`.
// Steps are always accepted: each partition that is read has one at a time.

import type { Appended, RecordToAppend } from '../../../contract/bus.ts'
import type { Milliseconds } from '../../../lib/clock.ts'
import { WeirError } from '../../../lib/errors.ts'
import { closedError } from '../failure.ts'
import { within } from '../within.ts'
import { createPendingWrites } from './pending-writes.ts'
import { createSending, type SendingOptions, type WrittenEnd } from './sending.ts'
import { checkSizes, createWriteAdmission } from './write-admission.ts'

export type Writer = {
  append(records: RecordToAppend[]): Promise<Appended[]>
  /** As append, but never rejected because other records wait. */
  writeStep(records: RecordToAppend[]): Promise<void>
  /** The offset after the newest record that this process wrote to the partition. */
  writtenTo(topic: string, partition: number): WrittenEnd | undefined
  /**
   * Limits the wait of each write to `ms` from now, until you call the returned function. A later
   * write gets at least 3 seconds. At the limit it fails with a `bus.unreachable` that is not
   * retryable. Its records stay first in their order and may still be written.
   */
  limitWaits(ms: Milliseconds): () => void
  /** Resolves when no write waits, or after `waitMs`. */
  drained(waitMs: Milliseconds): Promise<void>
  /** All waiting writes fail with `bus.closed`. */
  close(): void
}

export type WriterOptions = Omit<SendingOptions, 'countBytes'> & {
  recordBytesMax: number
  queueBytesMax: number
}

export function createWriter(options: WriterOptions): Writer {
  const { cluster, clock, recordBytesMax, queueBytesMax } = options
  let waitingBytes = 0
  let isClosed = false
  const admission = createWriteAdmission(cluster)
  const pending = createPendingWrites(clock)
  const sending = createSending({
    ...options,
    countBytes(bytes) {
      waitingBytes += bytes
    },
  })

  function write(records: RecordToAppend[]): Promise<Appended[]> {
    return admission.admit(records, () => {
      if (isClosed) return Promise.reject(closedError())
      if (records.length === 0) return Promise.resolve([])
      return pending.run(records.length, (job) => sending.enqueue(records, job))
    })
  }

  async function allWritten(): Promise<void> {
    await admission.checked()
    await pending.drained()
  }

  return {
    async append(records) {
      const bytes = checkSizes(records, recordBytesMax)
      if (waitingBytes > 0 && waitingBytes + bytes > queueBytesMax) {
        const why = `${waitingBytes} bytes already wait to be written to Kafka: append after earlier appends finish, and find out why the broker is slow`
        throw new WeirError('bus.full', why, { retryable: true })
      }
      return write(records)
    },

    async writeStep(records) {
      checkSizes(records, recordBytesMax)
      await write(records)
    },

    writtenTo: sending.writtenTo,
    limitWaits: pending.limitWaits,

    drained: (waitMs) => within(clock, waitMs, allWritten()),

    close() {
      isClosed = true
      sending.close()
    },
  }
}
