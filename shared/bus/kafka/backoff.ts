// Waiting before something is tried again, longer each time, and no longer than somebody still wants it.

import type { Clock, Milliseconds } from '../../clock.ts'

const firstMs = 50
const longestMs = 2_000

/** The wait after so many failures in a row, the first of which is 1. */
export function backoffMs(failures: number): Milliseconds {
  return Math.min(firstMs * 2 ** (failures - 1), longestMs)
}

/** Resolves after `ms`, or at once when `signal` aborts. */
export function pause(clock: Clock, ms: Milliseconds, signal?: AbortSignal): Promise<void> {
  if (signal?.aborted) return Promise.resolve()
  return new Promise((resolve) => {
    const cancel = clock.after(ms, done)
    signal?.addEventListener('abort', done, { once: true })
    function done(): void {
      cancel()
      signal?.removeEventListener('abort', done)
      resolve()
    }
  })
}
