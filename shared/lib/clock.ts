// Time and timers as they are handed in: the real ones in production, virtual ones in simulation.
// A reducer sees neither: its time is the append time on the record (R2).

/** Milliseconds: a point in time since the Unix epoch, or a duration where the name says so. */
export type Milliseconds = number

export type Clock = {
  /** Wall time in milliseconds since the epoch; may jump. */
  now(): Milliseconds
  /**
   * Milliseconds since an arbitrary start; never goes back, stands still while the machine sleeps.
   */
  monotonic(): Milliseconds
  /**
   * Calls `fire` once, not before `delayMs` has passed; returns how to cancel it. A pending timer
   * does not keep the process alive.
   */
  after(delayMs: Milliseconds, fire: () => void): () => void
}

const timerMaxMs = 2 ** 31 - 1

export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  after(delayMs, fire) {
    const timer = setTimeout(fire, Math.min(Math.max(delayMs, 0), timerMaxMs))
    timer.unref()
    return () => clearTimeout(timer)
  },
}
