// The limits of tests against hangs. They grow with the load of the machine, so no test fails because
// the machine is slow.

import { availableParallelism, loadavg } from 'node:os'

/** For tests: the number of busy processes that test/run/main.ts keeps running. */
export const busyVariable = 'WEIR_TEST_BUSY'

/** How the error of a test after its limit begins. */
export const limitText = 'It took longer than'

const patienceMax = 20

/** The running processes for each core: 1 on an idle machine. */
export function patience(): number {
  const running = Math.max(loadavg()[0] ?? 0, Number(process.env[busyVariable] ?? 0))
  return Math.min(patienceMax, Math.max(1, running / availableParallelism()))
}

export const idleWaitMaxMs = 100_000

/**
 * The longest wait of a test for an expected event, also on a busy machine. It is below a test's time
 * limit (test/support/jest/globals.ts), so the error names the event.
 */
export const waitMaxMs = Math.ceil(idleWaitMaxMs * patience())
