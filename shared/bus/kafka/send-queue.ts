// What waits to be written to one partition, in order, and the one batch of it that is on its way.
// SEND-QUEUE-1. A batch is sent again as it is until it is acknowledged or given up; nothing behind
//     it is sent before (R3).
// SEND-QUEUE-2. A batch is as large as what waits, up to a limit; a record that is larger than that
//     goes alone.
// SEND-QUEUE-3. When a record is given up, what its caller wanted written behind it is not sent any
//     more: a reader's mark would pass the one that is missing.

import type { Appended, RecordToAppend } from '../../contract/bus.ts'
import type { Milliseconds } from '../../lib/clock.ts'
import type { WeirError } from '../../lib/errors.ts'
import { encodedSizeMax } from './record-batch.ts'

/**
 * All that one caller wants written together. Settled when its last record is acknowledged, or at
 * the first failure.
 */
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
  /** The batch to send next: the one that failed, or a new one. Undefined: nothing waits. */
  next(bytesMax: number): Batch | undefined
  acknowledged(batch: Batch, baseOffset: number, time: Milliseconds): void
  /** A batch of several records that is too large for the broker: from now on each goes alone. */
  split(): void
  /** Gives up the batch that is being sent, and with `rest` all that waits behind it. */
  fail(error: WeirError, rest: boolean): void
}

/** `waits`: called with the bytes by which what waits has grown, or with a negative number. */
export function createSendQueue(
  topic: string,
  partition: number,
  waits: (bytes: number) => void,
): SendQueue {
  let waiting: Entry[] = []
  let head = 0
  let sending: Batch | undefined
  /** So many records from the head go alone. */
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
        waits(-entry.bytes) // keeps SEND-QUEUE-3
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
      waits(bytes)
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
      waits(-batch.bytes)
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
        waits(-entry.bytes)
        if (entry.job.settled) continue
        entry.job.settled = true
        entry.job.reject(error)
      }
    },
  }
}
