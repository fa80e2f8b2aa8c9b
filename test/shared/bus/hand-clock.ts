// A manual clock for tests. Timers fire only in advance().

import type { Clock, Milliseconds } from '../../../shared/lib/clock.ts'

export type HandClock = Clock & {
  /** Advances both clocks and fires the due timers, earliest first, each at its own time. */
  advance(ms: Milliseconds): void
  /** Sets the wall clock, also back. */
  setWall(now: Milliseconds): void
  /** The requested delays of the pending timers. */
  waiting(): Milliseconds[]
}

type Timer = { delayMs: Milliseconds; at: Milliseconds; fire: () => void }

export function handClock(start: Milliseconds = 1_700_000_000_000): HandClock {
  let monotonic = 0
  let wall = start
  let timers: Timer[] = []

  function take(timer: Timer): void {
    timers = timers.filter((each) => each !== timer)
  }

  return {
    now: () => wall,
    monotonic: () => monotonic,
    after(delayMs, fire) {
      const timer = { delayMs, at: monotonic + delayMs, fire }
      timers.push(timer)
      return () => take(timer)
    },
    advance(ms) {
      const end = monotonic + ms
      for (;;) {
        const next = timers.filter(({ at }) => at <= end).sort((a, b) => a.at - b.at)[0]
        const step = (next?.at ?? end) - monotonic
        monotonic += step
        wall += step
        if (next === undefined) return
        take(next)
        next.fire()
      }
    },
    setWall(now) {
      wall = now
    },
    waiting: () => timers.map(({ delayMs }) => delayMs),
  }
}
