// The steps that wait for a transaction. Owns: their order and the tries of a failed write.

import type { RecordToAppend, StoredRecord } from '../../../contract/bus.ts'
import { keepAlive } from '../../../lib/alive.ts'
import type { Clock, Milliseconds } from '../../../lib/clock.ts'
import type { WeirError } from '../../../lib/errors.ts'
import { asBusError } from '../failure.ts'
import type { Log } from '../log/log.ts'
import type { PartitionName } from '../log/log-partition.ts'
import type { Commitment } from './commit-queue.ts'

/** The wait before the second try. Each later wait is twice as long: five tries in three seconds. */
const retryFirstMs = 200

export type Step = { outputs: RecordToAppend[]; commitment: Commitment | undefined }

export type StepQueue = {
  /**
   * Gives the outputs their places at once. Resolves when they are written, and rejects when the
   * tries are used up. `bytes`: the share of the append queue's room that this step uses.
   */
  push(step: Step, bytes?: number): Promise<StoredRecord[]>
  /** Writes all waiting steps in one transaction, unless a failed write waits for its next try. */
  flush(): void
  count(): number
  /** Whether no step waits, for its first write or for its next try. */
  isEmpty(): boolean
  isRetrying(): boolean
  bytes(): number
}

export type StepQueueOptions = {
  log: Pick<Log, 'file' | 'stage' | 'unstage' | 'placeOf'>
  clock: Clock
  triesMax: number
  /** Schedules both flushes. */
  wake: () => void
  /** One transaction. */
  write: (records: StoredRecord[], commitments: Commitment[]) => void
  /** Takes the commitment of a step without outputs. */
  commitLater: (commitment: Commitment) => void
  /** Outputs for that partition (as the log names it) have places and can be read ahead. */
  staged: (partition: PartitionName) => void
  /** The tries are used up: all that was read ahead of the file is void. */
  failedForGood: (error: WeirError) => void
  /** A write of steps failed. The next try is after `waitMs`. */
  retrying: (error: WeirError, waitMs: Milliseconds) => void
}

type StepJob = Omit<Step, 'outputs'> & {
  records: StoredRecord[]
  bytes: number
  written(): void
  failed(error: WeirError): void
}

export function createStepQueue(options: StepQueueOptions): StepQueue {
  const { log, clock, triesMax, wake } = options
  let steps: StepJob[] = []
  let queueBytes = 0
  let isRetrying = false

  function writeSteps(jobs: StepJob[], tries: number): void {
    isRetrying = false
    const leading = jobs.filter(({ records }) => records.length > 0)
    try {
      options.write(
        leading.flatMap(({ records }) => records),
        leading.flatMap(({ commitment }) => commitment ?? []),
      )
    } catch (error) {
      const failure = asBusError(error, log.file)
      if (tries < triesMax) retryLater(jobs, tries, failure)
      else dropAll(jobs, failure)
      return
    }
    for (const { records, commitment } of jobs)
      if (records.length === 0 && commitment !== undefined) options.commitLater(commitment)
    for (const job of jobs) {
      queueBytes -= job.bytes
      job.written()
    }
  }

  function retryLater(jobs: StepJob[], tries: number, error: WeirError): void {
    const waitMs = retryFirstMs * 2 ** (tries - 1)
    isRetrying = true
    options.retrying(error, waitMs)
    const mayEnd = keepAlive()
    clock.after(waitMs, () => {
      mayEnd()
      writeSteps(jobs, tries + 1)
      wake()
    })
  }

  function dropAll(jobs: StepJob[], error: WeirError): void {
    log.unstage()
    options.failedForGood(error)
    for (const job of [...jobs, ...steps.splice(0)]) {
      queueBytes -= job.bytes
      job.failed(error)
    }
  }

  return {
    push({ outputs, commitment }, bytes = 0) {
      return new Promise((resolve, failed) => {
        const records = log.stage(outputs)
        steps.push({ records, commitment, bytes, written: () => resolve(records), failed })
        queueBytes += bytes
        wake()
        for (const place of new Set(records.map(log.placeOf))) options.staged(place)
      })
    },

    flush() {
      if (isRetrying || steps.length === 0) return // the next try wakes us
      const jobs = steps
      steps = []
      writeSteps(jobs, 1)
    },

    count: () => steps.length,
    isEmpty: () => steps.length === 0 && !isRetrying,
    isRetrying: () => isRetrying,
    bytes: () => queueBytes,
  }
}
