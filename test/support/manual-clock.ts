// A clock that stands still until a test moves it.

import type { Clock, Milliseconds } from '../../shared/lib/clock.ts'

export type ManualClock = Clock & {
  /** Moves time on and fires the due timers in order. */
  advance(ms: Milliseconds): void
}

export function manualClock(start: Milliseconds): ManualClock {
  let now = start
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
