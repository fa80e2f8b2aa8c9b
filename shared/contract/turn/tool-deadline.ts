// The deadlines of calls and rounds. The executor enforces them, loop-detector and conversation
// wait for them, so all three must compute the same times.

import type { Milliseconds } from '../../lib/clock.ts'
import { limits } from '../limits.ts'
import type { Declaration, Policy } from '../messages.ts'

/**
 * The tool's declared deadline, under the ceiling: a declaration may come from an unchecked client.
 */
export function toolTimeout({ timeoutMs }: Pick<Declaration, 'timeoutMs'>): Milliseconds {
  return Math.min(timeoutMs, limits.toolTimeoutMsMax)
}

/** The deadline of the slowest tool, or 0 without tools. */
export function slowestTimeout(declarations: Declaration[]): Milliseconds {
  return declarations.reduce(
    (slowest, declaration) => Math.max(slowest, toolTimeout(declaration)),
    0,
  )
}

/**
 * The time by which a call claimed just before `expiresAt` must be reported. The executor gives up
 * on it after one graceMs. The second graceMs is for the way of the report.
 */
export function latestOutcome(
  expiresAt: Milliseconds,
  { startWithinMs, graceMs }: Pick<Policy, 'startWithinMs' | 'graceMs'>,
  toolTimeoutMs: Milliseconds,
): Milliseconds {
  return expiresAt + startWithinMs + toolTimeoutMs + 2 * graceMs
}
