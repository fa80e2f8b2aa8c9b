// How performers' observations are written: again, while the bus says that a repeat can help.
// Without it a disk that is full for a moment costs a turn: a tool ran and nobody knows its result,
// or an attempt is over and its round waits for it until the turn expires. Repeating is safe: an
// observed record that stands in the log twice means what it means once (R3).

import type { Logger } from 'pino'
import type { Appended, Bus, RecordToAppend } from '../contract/bus.ts'
import { limits } from '../contract/limits.ts'
import { WeirError } from '../lib/errors.ts'

/** Rejects when a repeat cannot help, or `limits.observationTriesMax` tries did not. */
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
      if (!isRetryable(error) || failures >= limits.observationTriesMax) throw error
      const waitMs = limits.observationRetryMs * 2 ** (failures - 1)
      log.warn({ err: error, waitMs }, 'an observation could not be written; it is tried again')
      await new Promise<void>((resolve) => bus.clock.after(waitMs, resolve))
    }
  }
}

function isRetryable(error: unknown): boolean {
  return error instanceof WeirError && error.retryable
}
