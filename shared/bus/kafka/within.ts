// A bound on the wait for work that a broker may keep waiting, such as at a close.

import type { Clock, Milliseconds } from '../../lib/clock.ts'

/** Resolves when the work ends or fails, or after `ms`. */
export async function within(
  clock: Clock,
  ms: Milliseconds,
  work: Promise<unknown>,
): Promise<void> {
  const { promise: late, resolve } = Promise.withResolvers<void>()
  const cancel = clock.after(ms, resolve)
  await Promise.race([work.catch(() => {}), late])
  cancel()
}
