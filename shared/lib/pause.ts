// Waiting that a signal can end early.

import type { Clock, Milliseconds } from './clock.ts'

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
