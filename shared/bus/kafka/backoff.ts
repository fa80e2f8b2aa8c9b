// How long something waits before it is tried again: longer each time.

import type { Milliseconds } from '../../lib/clock.ts'

const firstMs = 50
const longestMs = 2_000

/** The wait after so many failures in a row, the first of which is 1. */
export function backoffMs(failures: number): Milliseconds {
  return Math.min(firstMs * 2 ** (failures - 1), longestMs)
}
