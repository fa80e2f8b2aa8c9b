// Decides when a failure that repeats is logged: not at first, because most failures pass soon
// (a leader moves, a group is new), and then at most every half minute.

import type { Clock, Milliseconds } from '../../lib/clock.ts'

const quietMs = 2_000
const repeatMs = 30_000

export type LogThrottle = {
  /** True if a line is due. `since`: the time of the first failure in a row. */
  isDue(since: Milliseconds): boolean
  /** Call it after a success. True if a line was logged, so the recovery is worth one as well. */
  reset(): boolean
}

export function createLogThrottle(clock: Clock): LogThrottle {
  let loggedAt: Milliseconds | undefined
  return {
    isDue(since) {
      const now = clock.monotonic()
      if (now - since < quietMs || (loggedAt !== undefined && now - loggedAt < repeatMs))
        return false
      loggedAt = now
      return true
    },
    reset() {
      const wasLogged = loggedAt !== undefined
      loggedAt = undefined
      return wasLogged
    },
  }
}
