// The calls that wait until their records are acknowledged, and the limit on that wait while the
// bus closes.

import type { Appended } from '../../../contract/bus.ts'
import type { Clock, Milliseconds } from '../../../lib/clock.ts'
import { WeirError } from '../../../lib/errors.ts'
import type { Job } from './send-queue.ts'

/** The least time for a write that starts near the limit. A working broker needs less. */
const limitedMsMin = 3_000

export type PendingWrites = {
  /** Calls `start` with a new job for so many records. Settles with the job. */
  run(records: number, start: (job: Job) => void): Promise<Appended[]>
  /** See Writer.limitWaits. */
  limitWaits(ms: Milliseconds): () => void
  /** Resolves when no call waits. */
  drained(): Promise<void>
}

export function createPendingWrites(clock: Clock): PendingWrites {
  /** Each with the function that cancels its limit. */
  const pending = new Map<Job, () => void>()
  let limitAt: Milliseconds | undefined
  let onDrained: (() => void)[] = []

  function startLimit(job: Job): () => void {
    if (limitAt === undefined) return noLimit
    return clock.after(Math.max(limitAt - clock.monotonic(), limitedMsMin), () => {
      if (job.settled) return
      job.settled = true
      job.reject(
        new WeirError(
          'bus.unreachable',
          'no broker acknowledged a write before Weir had to stop: check that the brokers run',
        ),
      )
    })
  }

  function remove(job: Job): void {
    pending.get(job)?.()
    pending.delete(job)
    if (pending.size > 0) return
    const callbacks = onDrained
    onDrained = []
    for (const callback of callbacks) callback()
  }

  return {
    run(records, start) {
      return new Promise((resolve, reject) => {
        const job: Job = {
          appended: new Array(records),
          left: records,
          settled: false,
          resolve(appended) {
            remove(job)
            resolve(appended)
          },
          reject(error) {
            remove(job)
            reject(error)
          },
        }
        pending.set(job, startLimit(job))
        start(job)
      })
    },

    limitWaits(ms) {
      const at = clock.monotonic() + ms
      limitAt = at
      for (const [job, cancel] of pending) {
        cancel()
        pending.set(job, startLimit(job))
      }
      return () => {
        if (limitAt !== at) return
        limitAt = undefined
        for (const [job, cancel] of pending) {
          cancel()
          pending.set(job, noLimit)
        }
      }
    },

    async drained() {
      if (pending.size > 0) await new Promise<void>((resolve) => onDrained.push(resolve))
    },
  }
}

function noLimit(): void {}
