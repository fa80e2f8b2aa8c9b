// Looks for an operator's stops while a performer has work that one can concern. The table is in
// memory on Kafka, so a look is no request. Owns: the timer.
// One look at a time, and none while nothing is at work.

import type { PerformerContext, PolicyRecord } from '../../contract/performer.ts'
import { stopKeyPrefix } from '../../contract/topology.ts'
import type { Clock } from '../../lib/clock.ts'

/** The time until a process that works finds a new stop. */
export const stopLookMs = 250

export type StopWatch = {
  /** Work has begun. */
  begin(): void
  close(): void
}

export type StopWatchOptions = {
  context: Pick<PerformerContext, 'log' | 'policies'>
  clock: Pick<Clock, 'after'>
  hasWork: () => boolean
  /** Called after each look that finds stops. The next look follows its end. Must not reject. */
  found: (records: PolicyRecord[]) => Promise<unknown> | undefined
}

export function createStopWatch({ context, clock, hasWork, found }: StopWatchOptions): StopWatch {
  let isWaiting = false
  let isClosed = false
  let cancel = (): void => {}

  function begin(): void {
    if (isWaiting || isClosed || !hasWork()) return
    isWaiting = true
    cancel = clock.after(stopLookMs, () => void look())
  }

  async function look(): Promise<void> {
    try {
      const records = await context.policies(stopKeyPrefix)
      if (!isClosed && records.length > 0) await found(records)
    } catch (error) {
      // Each start reads the stops too, and without them nothing starts.
      context.log.error({ err: error }, 'the stops in policies cannot be read')
    }
    isWaiting = false
    begin()
  }

  return {
    begin,
    close() {
      isClosed = true
      cancel()
    },
  }
}
