// A clock for tests of a deadline: the order of events decides, not the speed of the machine.

import { type Clock, type Milliseconds, systemClock } from '../../shared/lib/clock.ts'

const looksMs = 5

/**
 * The system's clock, but timers of exactly this delay fire when `isTime`, however long that takes.
 */
export function clockFiring(delayMs: Milliseconds, isTime: () => boolean): Clock {
  return {
    ...systemClock,
    after(ms, fire) {
      if (ms !== delayMs) return systemClock.after(ms, fire)
      const timer = setInterval(() => {
        if (!isTime()) return
        clearInterval(timer)
        fire()
      }, looksMs)
      return () => clearInterval(timer)
    },
  }
}
