// The time of a line in a recorded session.

import type { Milliseconds } from '../lib/clock.ts'
import type { Json } from './json-fields.ts'

/** Undefined: its `timestamp` is no time. */
export function timestampOf({ timestamp }: Json): Milliseconds | undefined {
  const time = typeof timestamp === 'string' ? Date.parse(timestamp) : Number.NaN
  return Number.isNaN(time) ? undefined : time
}
