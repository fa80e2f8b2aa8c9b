// The one place that writes records: appends of callers and outputs of steps, many in a transaction.
// Appends are written in order, and so are steps; each whole, or not at all.
// A step is written once. A failed write is tried again, and nothing overtakes it.
// When the tries are used up, its subscription fails and reads the records again.
// An append is not tried again: its caller gets the error at once and decides. A
// patient append counts as a step.
// Outputs of a step have places at once, so readers may read ahead of the file.
// An append gets its place when no step waits, so no reader has seen one that fails.
// A commit without outputs waits for the next write, or for a moment. A killed
// process reads such records again, which is harmless: they had no outputs.

import type { Appended, RecordToAppend, StoredRecord } from '../../contract/bus.ts'
import { WeirError } from '../../lib/errors.ts'
import { createAppendQueue, placesOf } from './append-queue.ts'
import { type Commitment, createCommitQueue, groupCommitOf } from './group/commit-queue.ts'
import { createStepQueue, type Step, type StepQueueOptions } from './group/step-queue.ts'
import type { Log } from './log/log.ts'
import type { PartitionName } from './log/log-partition.ts'

export type Writer = {
  append(records: RecordToAppend[], options?: { patient?: boolean }): Promise<Appended[]>
  /** Resolves when the outputs are durable; rejects after the last try. */
  writeStep(step: Step): Promise<void>
  /** Write the waiting records. The owner calls both after `wake`. */
  flushAppends(): void
  flushSteps(): void
  /** The number of steps and patient appends that wait. */
  waiting(): number
  /** Writes the waiting commits. If that fails, they wait on. */
  flushCommits(): void
  /** Resolves when nothing waits any more. */
  drained(): Promise<void>
}

export type WriterOptions = Omit<StepQueueOptions, 'log' | 'write' | 'commitLater'> & {
  log: Log
  recordBytesMax: number
  queueBytesMax: number
  /** Records of that partition are written. */
  grown: (partition: PartitionName) => void
}

export function createWriter(options: WriterOptions): Writer {
  const { log, clock, recordBytesMax, queueBytesMax, wake } = options
  const commits = createCommitQueue(clock, flushCommits)
  const appends = createAppendQueue(log, (records) => write(records, []))
  const steps = createStepQueue({ ...options, write, commitLater: commits.push })
  let whenDrained: (() => void)[] = []

  /** One transaction. */
  function write(records: StoredRecord[], commitments: Commitment[]): void {
    if (records.length + commitments.length === 0) return
    const grown = log.write({ records, commits: commitments.map(groupCommitOf) })
    commits.written(commitments)
    for (const partition of grown) options.grown(partition)
  }

  function flushCommits(): void {
    if (steps.isRetrying()) return
    try {
      write([], commits.waiting())
    } catch {
      // They only save reading records again. The next commit of each partition replaces them.
    }
  }

  function reportDrained(): void {
    if (whenDrained.length === 0 || !appends.isEmpty() || !steps.isEmpty()) return
    flushCommits()
    const waiters = whenDrained
    whenDrained = []
    for (const resolve of waiters) resolve()
  }

  return {
    async append(records, { patient = false } = {}) {
      const bytes = checkedBytes(records, log, recordBytesMax)
      if (records.length === 0) return []
      const queueBytes = appends.bytes() + steps.bytes()
      if (queueBytes + bytes > queueBytesMax && queueBytes > 0) {
        const why = `${queueBytes} bytes already wait to be written to ${log.file}: wait for earlier appends, then append again`
        throw new WeirError('bus.full', why, { retryable: true })
      }
      if (patient)
        return placesOf(
          await steps.push({ outputs: records, commitment: undefined }, bytes).catch(triedEnough),
        )
      wake()
      return appends.push(records, bytes)
    },

    async writeStep(step) {
      checkedBytes(step.outputs, log, recordBytesMax)
      if (step.outputs.length > 0 || !steps.isEmpty()) await steps.push(step)
      else if (step.commitment !== undefined) commits.push(step.commitment)
    },

    flushAppends() {
      if (!steps.isEmpty()) return // the next try wakes us
      appends.flush()
      if (appends.isEmpty()) reportDrained()
      else wake()
    },

    flushSteps: steps.flush,
    waiting: steps.count,
    flushCommits,

    drained() {
      return new Promise((resolve) => {
        whenDrained.push(resolve)
        wake()
      })
    },
  }
}

/**
 * Checks the records of a job before any of it is written. Returns the bytes of its values.
 */
function checkedBytes(
  records: RecordToAppend[],
  log: Pick<Log, 'topic'>,
  recordBytesMax: number,
): number {
  let bytes = 0
  for (const { topic, partition, key, value } of records) {
    const { kind, partitions } = log.topic(topic)
    if (!(partition >= 0 && partition < partitions)) {
      throw new WeirError(
        'bus.topic-differs',
        `topic ${topic} has partitions 0 to ${partitions - 1}, not ${partition}`,
      )
    }
    if (value === null && kind === 'log') {
      throw new WeirError(
        'bus.topic-differs',
        `topic ${topic} is a log and accepts no tombstone (key ${key}): only a table does`,
      )
    }
    const size = value?.byteLength ?? 0
    if (size > recordBytesMax) {
      throw new WeirError(
        'bus.record-too-large',
        `a record for ${topic} (key ${key}) has ${size} bytes; the bus accepts at most ${recordBytesMax}`,
      )
    }
    bytes += size
  }
  return bytes
}

/** A caller that tries again on retryable errors must not repeat this one: all tries are used up. */
function triedEnough({ code, message, cause }: WeirError): never {
  throw new WeirError(code, message, { cause })
}
