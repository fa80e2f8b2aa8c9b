// How long a call may run, and until when its round is waited for. The executor keeps these times,
// loop-detector and conversation wait for them: all three must reckon alike.

import type { Milliseconds } from '../lib/clock.ts'
import { limits } from './limits.ts'
import type { Declaration, Policy } from './messages.ts'

/**
 * What the tool declares, under the ceiling: a declaration may come from a client that nobody
 * checked.
 */
export function toolTimeout({ timeoutMs }: Pick<Declaration, 'timeoutMs'>): Milliseconds {
  return Math.min(timeoutMs, limits.toolTimeoutMsMax)
}

/** That of the slowest of the tools; 0 where there is none. */
export function slowestTimeout(declarations: Declaration[]): Milliseconds {
  return declarations.reduce(
    (slowest, declaration) => Math.max(slowest, toolTimeout(declaration)),
    0,
  )
}

/**
 * When even a call that was claimed just before `expiresAt` must have been reported: the executor
 * gives it up after one graceMs, and the second one is for the way of the report.
 */
export function latestOutcome(
  expiresAt: Milliseconds,
  { startWithinMs, graceMs }: Pick<Policy, 'startWithinMs' | 'graceMs'>,
  toolTimeoutMs: Milliseconds,
): Milliseconds {
  return expiresAt + startWithinMs + toolTimeoutMs + 2 * graceMs
}
