// The one place that writes records: what callers append, and what steps led to, each many at a
// time in one transaction.
// EMBEDDED-WRITER-1. Appends are written in the order in which they came, and so are steps; each is
//     written whole, or not at all.
// EMBEDDED-WRITER-2. A step is never skipped and never written twice: when its write fails, the
//     same write is tried again, and nothing overtakes it, no append either. When the tries are
//     used up the steps are given up, and with them their subscriptions: they were not committed,
//     so they are read again.
// EMBEDDED-WRITER-3. What a caller appends is not tried again: the caller hears of the failure at
//     once and knows best. A patient one counts as a step in all of this.
// EMBEDDED-WRITER-4. The outputs of a step have their places from the moment in which it comes, so
//     readers may read ahead of the file: what they make of it is a step behind it. An append gets
//     its place when it is written, and only where no step waits: so nobody has read one that
//     fails.
// EMBEDDED-WRITER-5. A step that only commits is done at once where all that it has read is
//     written: there is nothing that could be acted on too early. Its commit rides with the next
//     write, or comes a moment later. A process that is killed before that reads some records again
//     that led to nothing.

import type { Appended, Commit, RecordToAppend, StoredRecord } from '../../contract/bus.ts'
import type { Clock, Milliseconds } from '../../lib/clock.ts'
import { WeirError } from '../../lib/errors.ts'
import { keepAlive } from './alive.ts'
import { asBusError } from './failure.ts'
import type { GroupCommit, Log, PartitionName } from './log.ts'

/**
 * A transaction ends at whichever comes first, so that a long queue does not hold up everything
 * else; one job is always in it.
 */
const transactionRecordsMax = 4096
const transactionBytesMax = 16 * 1024 * 1024
/**
 * The wait before the second try; each later one is twice as long: five tries within three seconds.
 */
const retryFirstMs = 200
/** How long a commit waits for a write that it can ride with (EMBEDDED-WRITER-5). */
const commitWaitMs = 100

export type Writer = {
  append(records: RecordToAppend[], options?: { patient?: boolean }): Promise<Appended[]>
  /** Resolves when the outputs are durable; rejects when the tries are used up. */
  writeStep(step: Step): Promise<void>
  /** Write what waits. Called by whoever was told to by `wake`. */
  flushAppends(): void
  flushSteps(): void
  /** Writes the commits that may wait; where that fails they wait on. */
  flushCommits(): void
  /** Resolves when nothing waits any more. */
  drained(): Promise<void>
}

export type WriterOptions = {
  log: Log
  clock: Clock
  recordBytesMax: number
  queueBytesMax: number
  triesMax: number
  /** Somebody has to call both flushes soon. */
  wake: () => void
  /**
   * Outputs for that partition (as the log names it) have got their places; they can be read ahead.
   */
  staged: (partition: PartitionName) => void
  /** Records of that partition are written. */
  grown: (partition: PartitionName) => void
  /** What was read ahead of the file is void. */
  gaveUp: (error: WeirError) => void
  /** A write of steps failed and is tried again after `waitMs`. */
  retrying: (error: WeirError, waitMs: Milliseconds) => void
}

type Append = {
  records: RecordToAppend[]
  bytes: number
  written(appended: Appended[]): void
  failed(error: WeirError): void
}

/** `of`: the reader whose commit it is; `committed` is called when it is durable. */
type Commitment = { of: Omit<GroupCommit, keyof Commit>; commit: Commit; committed: () => void }

type Step = { outputs: RecordToAppend[]; commitment: Commitment | undefined }

type StepJob = Omit<Step, 'outputs'> & {
  records: StoredRecord[]
  bytes: number
  written(): void
  failed(error: WeirError): void
}

export function createWriter(options: WriterOptions): Writer {
  const { log, clock, recordBytesMax, queueBytesMax, triesMax, wake } = options
  const appends: Append[] = []
  let steps: StepJob[] = []
  /** Of all appends that wait, the patient ones among them. */
  let queueBytes = 0
  /** The newest of each reader whose steps led to nothing else (EMBEDDED-WRITER-5). */
  const commitments = new Map<Commitment['of'], Commitment>()
  let isCommitDue = false
  let isWaiting = false // for the next try of a write that failed
  let whenDrained: (() => void)[] = []

  function flushAppends(): void {
    if (steps.length > 0 || isWaiting) return // EMBEDDED-WRITER-4; the next try wakes us
    const jobs = takeAppends()
    if (jobs.length > 0) writeAppends(jobs)
    if (appends.length > 0) wake()
    else tellIfDrained()
  }

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

  function writeAppends(jobs: Append[]): void {
    const staged = jobs.map(({ records }) => log.stage(records))
    try {
      write(staged.flat(), [])
    } catch (error) {
      log.unstage()
      const failure = asBusError(error, log.file)
      for (const job of jobs) job.failed(failure) // EMBEDDED-WRITER-3
      return
    }
    for (const [n, job] of jobs.entries()) job.written(placesOf(staged[n] ?? []))
  }

  function flushSteps(): void {
    if (isWaiting || steps.length === 0) return // EMBEDDED-WRITER-2; the next try wakes us
    const jobs = steps
    steps = []
    writeSteps(jobs, 1)
  }

  function writeSteps(jobs: StepJob[], tries: number): void {
    isWaiting = false
    const [leading, only] = [
      jobs.filter(({ records }) => records.length > 0),
      jobs.filter(({ records }) => records.length === 0),
    ]
    try {
      write(
        leading.flatMap(({ records }) => records),
        leading.flatMap(({ commitment }) => commitment ?? []),
      )
    } catch (error) {
      notWritten(jobs, tries, asBusError(error, log.file))
      return
    }
    for (const { commitment } of only) if (commitment !== undefined) commitSoon(commitment)
    for (const job of jobs) {
      queueBytes -= job.bytes
      job.written()
    }
  }

  /** One transaction. */
  function write(records: StoredRecord[], committing: Commitment[]): void {
    if (records.length + committing.length === 0) return
    const grown = log.write({
      records,
      commits: committing.map(
        ({ of: { group, topic, partition }, commit: { offset, metadata } }) => ({
          group,
          topic,
          partition,
          offset,
          metadata,
        }),
      ),
    })
    for (const { of, committed } of committing) {
      commitments.delete(of)
      committed()
    }
    for (const partition of grown) options.grown(partition)
  }

  function notWritten(jobs: StepJob[], tries: number, error: WeirError): void {
    if (tries >= triesMax) {
      log.unstage()
      options.gaveUp(error)
      for (const job of [...jobs, ...steps.splice(0)]) {
        queueBytes -= job.bytes
        job.failed(error)
      }
      return
    }
    const waitMs = retryFirstMs * 2 ** (tries - 1)
    isWaiting = true
    options.retrying(error, waitMs)
    const mayEnd = keepAlive()
    clock.after(waitMs, () => {
      mayEnd()
      writeSteps(jobs, tries + 1)
      wake()
    })
  }

  function commitSoon(commitment: Commitment): void {
    commitments.set(commitment.of, commitment)
    if (isCommitDue) return
    isCommitDue = true
    clock.after(commitWaitMs, () => {
      isCommitDue = false
      flushCommits()
    })
  }

  function flushCommits(): void {
    if (commitments.size === 0 || isWaiting) return
    try {
      write([], [...commitments.values()])
    } catch {
      // They say only how little is to be read again; the next one of each partition says it too.
    }
  }

  function tellIfDrained(): void {
    if (appends.length > 0 || steps.length > 0 || isWaiting || whenDrained.length === 0) return
    flushCommits()
    const told = whenDrained
    whenDrained = []
    for (const tell of told) tell()
  }

  /**
   * Everything that can be wrong with a record, before anything of its job is written. Answers the
   * size of the job in bytes.
   */
  function checkedBytes(records: RecordToAppend[]): number {
    let bytes = 0
    for (const { topic, partition, key, value } of records) {
      const { kind, partitions } = log.topic(topic)
      if (!(partition >= 0 && partition < partitions)) {
        throw new WeirError(
          'bus.topic-differs',
          `topic ${topic} has partitions 0 to ${partitions - 1}, and ${partition} was to be written`,
        )
      }
      if (value === null && kind === 'log') {
        throw new WeirError(
          'bus.topic-differs',
          `topic ${topic} is a log, and a tombstone (key ${key}) needs a table`,
        )
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

  /** `bytes`: what it takes of the room that appends have. */
  function queueStep({ outputs, commitment }: Step, bytes = 0): Promise<StoredRecord[]> {
    return new Promise((resolve, failed) => {
      const records = log.stage(outputs)
      steps.push({ records, commitment, bytes, written: () => resolve(records), failed })
      queueBytes += bytes
      wake()
      for (const place of new Set(records.map(log.placeOf))) options.staged(place)
    })
  }

  return {
    async append(records, { patient = false } = {}) {
      const bytes = checkedBytes(records)
      if (records.length === 0) return []
      if (queueBytes + bytes > queueBytesMax && queueBytes > 0) {
        const why = `${queueBytes} bytes wait to be written to ${log.file} already: append when earlier appends are done`
        throw new WeirError('bus.full', why, { retryable: true })
      }
      if (patient)
        return placesOf(
          await queueStep({ outputs: records, commitment: undefined }, bytes).catch(triedEnough),
        )
      return new Promise((written, failed) => {
        appends.push({ records, bytes, written, failed })
        queueBytes += bytes
        wake()
      })
    },

    async writeStep({ outputs, commitment }) {
      checkedBytes(outputs)
      if (outputs.length > 0 || steps.length > 0 || isWaiting)
        await queueStep({ outputs, commitment })
      else if (commitment !== undefined) commitSoon(commitment)
    },

    flushAppends,
    flushSteps,
    flushCommits,

    drained() {
      return new Promise((resolve) => {
        whenDrained.push(resolve)
        wake()
      })
    },
  }
}

/** For who would try again: that has been done. */
function triedEnough({ code, message, cause }: WeirError): never {
  throw new WeirError(code, message, { cause })
}

function placesOf(records: StoredRecord[]): Appended[] {
  return records.map(({ partition, offset, time }) => ({ partition, offset, time }))
}
