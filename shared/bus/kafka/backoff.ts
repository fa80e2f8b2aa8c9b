// The wait before a retry, longer after each failure.

import type { Milliseconds } from '../../lib/clock.ts'

const firstMs = 50
const longestMs = 2_000

/** `failures`: in a row. The first is 1. */
export function backoffMs(failures: number): Milliseconds {
  return Math.min(firstMs * 2 ** (failures - 1), longestMs)
}
