// When to say that something keeps failing: not at the first failure, of which most pass unnoticed
// (a leader moves, a group is new), and not at each.

import type { Clock, Milliseconds } from '../../lib/clock.ts'

const patienceMs = 2_000
const repeatMs = 30_000

export type Complaint = {
  /** `since`: when it began to fail. True at most every half minute. */
  isDue(since: Milliseconds): boolean
  /** It works again. True if it was complained of. */
  isOver(): boolean
}

export function createComplaint(clock: Clock): Complaint {
  let saidAt: Milliseconds | undefined
  return {
    isDue(since) {
      const now = clock.monotonic()
      if (now - since < patienceMs || (saidAt !== undefined && now - saidAt < repeatMs))
        return false
      saidAt = now
      return true
    },
    isOver() {
      const wasSaid = saidAt !== undefined
      saidAt = undefined
      return wasSaid
    },
  }
}
