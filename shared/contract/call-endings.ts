// What the model reads of a call that never ran, or of whose end nobody knows: the same words
// whichever stage is the one to say it.

import type { CallResult } from './messages.ts'

/** A result without its place and time. */
export type CallEnding = Pick<CallResult, 'status' | 'text' | 'reason'>

/**
 * Why a call that nobody has started must not run: its turn was cancelled, or the turn's time is
 * over.
 */
export type WhyNotRun = 'cancelled' | 'expired'

export function skippedCall(why: WhyNotRun): CallEnding {
  return why === 'cancelled'
    ? {
        status: 'skipped',
        text: 'This call was not run: the turn was cancelled before it started.',
        reason: 'cancelled before it started',
      }
    : {
        status: 'skipped',
        text: 'This call was not run: the time for this turn was over.',
        reason: 'the turn was over before it started',
      }
}

/** `what` is a whole sentence for the model, `reason` the short form. */
export function outcomeUnknown(what: string, reason: string): CallEnding {
  return {
    status: 'outcome_unknown',
    text: `${what} It may have run, or may still take effect; check before doing it again.`,
    reason,
  }
}

/** Nobody has reported the end of a call that may have started. */
export const noResultInTime: CallEnding = outcomeUnknown(
  'No result of this call came back in time.',
  'no result in time',
)
