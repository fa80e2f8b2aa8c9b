// How long records are kept (R7). One setting says it for all logs and for the history of
// conversations; what a group may still have to fold must be within it, or a restart would find
// half of a turn and stop (position.ts).

import type { Milliseconds } from '../lib/clock.ts'
import { limits } from './limits.ts'
import { latestOutcome } from './tool-deadline.ts'

const hourMs: Milliseconds = 3_600_000
const dayMs: Milliseconds = 24 * hourMs

/** The defaults of the settings `retention` and `toleratedDowntime`, in days. */
export const retentionDaysDefault = 7
export const downtimeDaysDefault = 3

/** `days`: of the setting `retention`. */
export function retentionMsOf(days: number = retentionDaysDefault): Milliseconds {
  return days * dayMs
}

/**
 * From a turn's first record to its last, under all ceilings: until the outcome of a call that was
 * claimed at the last moment is given up.
 */
export const turnLongestMs: Milliseconds = latestOutcome(
  limits.turnWallMsMax + limits.turnExtensionMsMax,
  { startWithinMs: limits.startWithinMsMax, graceMs: limits.graceMsMax },
  limits.toolTimeoutMsMax + limits.turnLingerMs,
)

/**
 * Why Weir must not start with these settings, both in days; undefined: it may. A turn may have
 * begun as Weir stopped, and its first record has to be there when Weir comes back.
 */
export function retentionFault(retention: number, toleratedDowntime: number): string | undefined {
  if (retentionMsOf(retention) > turnLongestMs + retentionMsOf(toleratedDowntime)) return undefined
  const least = Math.floor(turnLongestMs / dayMs) + 1 + toleratedDowntime
  const needed = `the longest turn (${Math.ceil(turnLongestMs / hourMs)} hours) and the tolerated downtime (${toleratedDowntime} days) must fit into it`
  return `${needed}; set retention to at least ${least}, or toleratedDowntime to less`
}
