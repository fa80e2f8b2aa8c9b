// The records that wait for one partition, in order, and the one batch in flight.
// A batch is resent unchanged until it is acknowledged or fails. Nothing after it is
// sent before (R3).
// A batch has all waiting records up to a limit. A larger record is sent alone.
// If a record fails, the later records of its caller are not sent: a reader's mark
// would pass the missing one.

import type { Appended, RecordToAppend } from '../../../contract/bus.ts'
import type { Milliseconds } from '../../../lib/clock.ts'
import type { WeirError } from '../../../lib/errors.ts'
import { encodedSizeMax } from '../protocol/record-batch.ts'

/** The records of one call. Settled when the last one is acknowledged, or at the first failure. */
export type Job = {
  readonly appended: Appended[]
  left: number
  settled: boolean
  resolve(appended: Appended[]): void
  reject(error: WeirError): void
}

type Entry = { record: RecordToAppend; bytes: number; job: Job; index: number }

export type Batch = {
  readonly entries: Entry[]
  readonly bytes: number
  failures: number
  firstTriedAt: Milliseconds | undefined
}

export type SendQueue = {
  readonly topic: string
  readonly partition: number
  readonly isEmpty: boolean
  add(record: RecordToAppend, job: Job, index: number): void
  /** The batch to send next: the failed one, or a new one. Undefined if nothing waits. */
  next(bytesMax: number): Batch | undefined
  acknowledged(batch: Batch, baseOffset: number, time: Milliseconds): void
  /** The batch is too large for the broker: from now on each of its records is sent alone. */
  split(): void
  /** Fails the batch in flight, and with `rest` all records after it. */
  fail(error: WeirError, rest: boolean): void
}

/** `countBytes`: called with the change in waiting bytes. */
export function createSendQueue(
  topic: string,
  partition: number,
  countBytes: (bytes: number) => void,
): SendQueue {
  let waiting: Entry[] = []
  let head = 0
  let sending: Batch | undefined
  /** The number of records at the head that are sent alone. */
  let alone = 0

  function takeNew(bytesMax: number): Batch | undefined {
    const entries: Entry[] = []
    let bytes = 0
    for (let entry = waiting[head]; entry !== undefined; entry = waiting[head]) {
      const isAlone = alone > 0
      if (entries.length > 0 && (isAlone || bytes + entry.bytes > bytesMax)) break
      head += 1
      if (isAlone) alone -= 1
      if (entry.job.settled) {
        countBytes(-entry.bytes)
        continue
      }
      entries.push(entry)
      bytes += entry.bytes
      if (isAlone) break
    }
    if (head > 1024 && head * 2 > waiting.length) {
      waiting = waiting.slice(head)
      head = 0
    }
    if (head === waiting.length) {
      waiting = []
      head = 0
    }
    return entries.length === 0
      ? undefined
      : { entries, bytes, failures: 0, firstTriedAt: undefined }
  }

  return {
    topic,
    partition,

    get isEmpty() {
      return sending === undefined && waiting.length === 0
    },

    add(record, job, index) {
      const bytes = encodedSizeMax(record)
      waiting.push({ record, bytes, job, index })
      countBytes(bytes)
    },

    next(bytesMax) {
      sending ??= takeNew(bytesMax)
      return sending
    },

    acknowledged(batch, baseOffset, time) {
      sending = undefined
      for (const [n, { job, index }] of batch.entries.entries()) {
        job.appended[index] = { partition, offset: baseOffset + n, time }
        job.left -= 1
        if (job.left > 0 || job.settled) continue
        job.settled = true
        job.resolve(job.appended)
      }
      countBytes(-batch.bytes)
    },

    split() {
      if (sending === undefined) return
      waiting = [...sending.entries, ...waiting.slice(head)]
      head = 0
      alone = sending.entries.length
      sending = undefined
    },

    fail(error, rest) {
      const given = [...(sending?.entries ?? []), ...(rest ? waiting.slice(head) : [])]
      sending = undefined
      if (rest) {
        waiting = []
        head = 0
        alone = 0
      }
      for (const entry of given) {
        countBytes(-entry.bytes)
        if (entry.job.settled) continue
        entry.job.settled = true
        entry.job.reject(error)
      }
    },
  }
}
