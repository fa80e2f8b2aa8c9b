// Time and timers, which callers inject: real in production, virtual in simulation. A reducer sees
// neither: its time is the append time of the record (R2).

/** A point in time since the Unix epoch, or a duration if the name ends in Ms. */
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
