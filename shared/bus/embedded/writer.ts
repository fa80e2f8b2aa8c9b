// The one place that writes records: a queue of jobs (what a caller appends; what a step led to), written many at a time in one transaction.
// W1. Jobs are written in the order in which they came; a job is written whole, or not at all.
// W2. A step is never skipped and never written twice: when its write fails, the same write is tried again, and nothing overtakes it.
//     When the tries are used up the step is given up, and with it its subscription: it was not committed, so it is read again.
// W3. What a caller appends is not tried again: the caller hears of the failure at once and knows best.

import type { Clock, Milliseconds } from '../../clock.ts'
import { WeirError } from '../../errors.ts'
import type { Appended, RecordToAppend } from '../port.ts'
import { keepAlive } from './alive.ts'
import { asBusError } from './failure.ts'
import type { GroupCommit, Log, PartitionName } from './log.ts'

/** A transaction ends at whichever comes first, so that a long queue does not hold up everything else; one job is always in it. */
const transactionRecordsMax = 4096
const transactionBytesMax = 16 * 1024 * 1024
/** The wait before the second try; each later one is twice as long: five tries within three seconds. */
const retryFirstMs = 200

export type Writer = {
  append(records: RecordToAppend[]): Promise<Appended[]>
  /** Resolves when the outputs and the commit are durable; rejects when the tries are used up. */
  writeStep(step: { outputs: RecordToAppend[]; commit: GroupCommit | undefined }): Promise<void>
  /** Writes what waits. Called by whoever was told to by `wake`. */
  flush(): void
  /** Resolves when nothing waits any more. */
  drained(): Promise<void>
}

export type WriterOptions = {
  log: Log
  clock: Clock
  recordBytesMax: number
  queueBytesMax: number
  triesMax: number
  /** Somebody has to call flush() soon. */
  wake: () => void
  grown: (partition: PartitionName) => void
  /** A write of steps failed and is tried again after `waitMs`. */
  retrying: (error: WeirError, waitMs: Milliseconds) => void
}

type Job = {
  records: RecordToAppend[]
  commit: GroupCommit | undefined
  bytes: number
  isStep: boolean
  written(appended: Appended[]): void
  failed(error: WeirError): void
}

export function createWriter(options: WriterOptions): Writer {
  const { log, clock, recordBytesMax, queueBytesMax, triesMax, wake, grown, retrying } = options
  const queue: Job[] = []
  let queueBytes = 0
  let isWaiting = false // for the next try of a write that failed
  let whenDrained: (() => void)[] = []

  function enqueue(job: Job): void {
    queue.push(job)
    queueBytes += job.bytes
    wake()
  }

  function flush(): void {
    if (isWaiting) return // W2; the next try wakes us
    const jobs = takeJobs()
    if (jobs.length > 0) attempt(jobs, 1)
    if (queue.length > 0) wake()
    else if (!isWaiting) tellDrained()
  }

  function takeJobs(): Job[] {
    let records = 0
    let bytes = 0
    let count = 0
    for (const job of queue) {
      records += job.records.length
      bytes += job.bytes
      if (count > 0 && (records > transactionRecordsMax || bytes > transactionBytesMax)) break
      count += 1
    }
    const jobs = queue.splice(0, count)
    for (const job of jobs) queueBytes -= job.bytes
    return jobs
  }

  function attempt(jobs: Job[], tries: number): void {
    const records = jobs.flatMap((job) => job.records)
    const commits = jobs.flatMap(({ commit }) => (commit === undefined ? [] : [commit]))
    isWaiting = false
    try {
      const written = records.length + commits.length > 0 ? log.write({ records, commits }) : { appended: [], grown: [] }
      let from = 0
      for (const job of jobs) {
        const to = from + job.records.length
        job.written(written.appended.slice(from, to))
        from = to
      }
      for (const partition of written.grown) grown(partition)
    } catch (error) {
      notWritten(jobs, tries, asBusError(error, log.file))
    }
  }

  function notWritten(jobs: Job[], tries: number, error: WeirError): void {
    for (const job of jobs) if (!job.isStep) job.failed(error) // W3
    const steps = jobs.filter(({ isStep }) => isStep)
    if (steps.length === 0) return
    if (tries >= triesMax) {
      for (const step of steps) step.failed(error)
      return
    }
    const waitMs = retryFirstMs * 2 ** (tries - 1)
    isWaiting = true
    retrying(error, waitMs)
    const mayEnd = keepAlive()
    clock.after(waitMs, () => {
      mayEnd()
      attempt(steps, tries + 1)
      wake()
    })
  }

  function tellDrained(): void {
    const told = whenDrained
    whenDrained = []
    for (const tell of told) tell()
  }

  /** Everything that can be wrong with a record, before anything of its job is written. Answers the size of the job in bytes. */
  function checkedBytes(records: RecordToAppend[]): number {
    let bytes = 0
    for (const { topic, partition, key, value } of records) {
      const { kind, partitions } = log.topic(topic)
      if (!(partition >= 0 && partition < partitions)) {
        throw new WeirError('bus.topic-differs', `topic ${topic} has partitions 0 to ${partitions - 1}, and ${partition} was to be written`)
      }
      if (value === null && kind === 'log') {
        throw new WeirError('bus.topic-differs', `topic ${topic} is a log, and a tombstone (key ${key}) needs a table`)
      }
      const size = value?.byteLength ?? 0
      if (size > recordBytesMax) {
        throw new WeirError(
          'bus.record-too-large',
          `a record for ${topic} (key ${key}) has ${size} bytes, and the bus takes ${recordBytesMax}`,
        )
      }
      bytes += size
    }
    return bytes
  }

  return {
    async append(records) {
      const bytes = checkedBytes(records)
      if (records.length === 0) return []
      if (queueBytes + bytes > queueBytesMax && queue.length > 0) {
        const why = `${queueBytes} bytes wait to be written to ${log.file} already: append when earlier appends are done`
        throw new WeirError('bus.full', why, { retryable: true })
      }
      return new Promise((resolve, reject) => {
        enqueue({ records, commit: undefined, bytes, isStep: false, written: resolve, failed: reject })
      })
    },

    async writeStep({ outputs, commit }) {
      const bytes = checkedBytes(outputs)
      return new Promise((resolve, reject) => {
        enqueue({ records: outputs, commit, bytes, isStep: true, written: () => resolve(), failed: reject })
      })
    },

    flush,

    drained() {
      if (queue.length === 0 && !isWaiting) return Promise.resolve()
      return new Promise((resolve) => {
        whenDrained.push(resolve)
        wake()
      })
    },
  }
}
