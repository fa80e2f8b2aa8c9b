// A clock that stands still until a test moves it. Weir.open takes it as the clock of its bus, and then
// every deadline, retry and wait from it.

import type { Clock, Milliseconds } from '../../shared/lib/clock.ts'

export type FakeClock = Clock & {
  /** Moves time on by this many milliseconds and fires the due timers in order. */
  advance(ms: Milliseconds): void
}

/** `start`: milliseconds since the epoch, or a date in ISO form. */
export function fakeClock(start: Milliseconds | string): FakeClock {
  let now = typeof start === 'string' ? Date.parse(start) : start
  if (!Number.isFinite(now)) throw new RangeError(`fakeClock: ${start} is no time`)
  const timers = new Set<{ at: Milliseconds; fire: () => void }>()
  return {
    now: () => now,
    monotonic: () => now,
    after(delayMs, fire) {
      const timer = { at: now + Math.max(0, delayMs), fire }
      timers.add(timer)
      return () => timers.delete(timer)
    },
    advance(ms) {
      const until = now + ms
      for (;;) {
        const next = [...timers].filter((timer) => timer.at <= until).sort((a, b) => a.at - b.at)[0]
        if (next === undefined) break
        timers.delete(next)
        now = Math.max(now, next.at)
        next.fire()
      }
      now = until
    },
  }
}
