// Writes performers' observations, and retries while the bus reports a retryable error. Without a
// retry, a disk that is full for a moment costs a turn. A tool's result is lost, or a round waits
// for a finished attempt until the turn expires. A retry is safe: an observed record that stands in
// the log twice counts once (R3).

import type { Logger } from 'pino'
import type { Appended, Bus, RecordToAppend } from '../contract/bus.ts'
import { WeirError } from '../lib/errors.ts'

/**
 * Tries to write a performer's observation after retryable errors, and the first wait, doubled
 * each time. All waits together: 3 seconds.
 */
export const observationTriesMax = 5
const observationRetryMs = 200

/** Rejects if a retry cannot help, or after `observationTriesMax` tries. */
export async function writeObservation(
  bus: Pick<Bus, 'append' | 'clock'>,
  records: RecordToAppend[],
  log: Logger,
): Promise<Appended[]> {
  for (let failures = 0; ; ) {
    try {
      return await bus.append(records, { patient: true })
    } catch (error) {
      failures += 1
      if (!isRetryable(error) || failures >= observationTriesMax) throw error
      const waitMs = observationRetryMs * 2 ** (failures - 1)
      log.warn({ err: error, waitMs }, 'an observation could not be written and will be retried')
      await new Promise<void>((resolve) => bus.clock.after(waitMs, resolve))
    }
  }
}

function isRetryable(error: unknown): boolean {
  return error instanceof WeirError && error.retryable
}
