// The ends of a call that never ran, or whose end is unknown. Every stage uses the same words.

import { deniedForGood } from '../../model-texts/denied-calls.ts'
import * as texts from '../../model-texts/endings.ts'
import type { CallResult, ResultStatus } from '../messages.ts'

/** A result without its place and time. */
export type CallEnding = Pick<CallResult, 'status' | 'text' | 'reason'> &
  Partial<Pick<CallResult, 'guard'>>

/** The whole result of a call that ended so. A field that the end does not have is empty. */
export function resultWith(ordinal: number, ending: CallEnding & Partial<CallResult>): CallResult {
  return { durationMs: 0, contents: [], tokens: null, guard: '', ...ending, ordinal }
}

/**
 * The reason why a call that has not started must not run: the turn was cancelled or its time is
 * over.
 */
export type WhyNotRun = 'cancelled' | 'expired'

export function skippedCall(why: WhyNotRun): CallEnding {
  return why === 'cancelled'
    ? {
        status: 'skipped',
        text: texts.cancelledBefore,
        reason: 'cancelled before it started',
      }
    : {
        status: 'skipped',
        text: texts.turnOver,
        reason: 'the turn was over before it started',
      }
}

/** The reason of a call that was denied when its answer first came. */
export const deniedBeforeReason = 'denied before'

/** The reason of a guest's call whose claim this front did not win. */
export const givenBeforeReason = 'another front has given its verdict, or its round is over'

/** The reason of a guest's call without a verdict in a round that is over. */
export const roundOverReason = 'no verdict before the end of its round'

/** The call never ran. The same call would be denied again. */
export function denied(what: string, reason: string): CallEnding {
  return {
    status: 'denied',
    text: deniedForGood(what),
    reason,
  }
}

/** `text`: whole, for the model. */
export function deniedAs(text: string, reason: string): CallEnding {
  return { status: 'denied', text, reason }
}

/** `sentence` is for the model. `reason` is the short form. */
export function outcomeUnknown(sentence: string, reason: string): CallEnding {
  return {
    status: 'unknown',
    text: texts.mayHaveRun(sentence),
    reason,
  }
}

/** A call of a guest that went on without its result. It is no evidence of a failure or a success. */
export function unseenResult(reason: string): CallEnding {
  return {
    status: 'unseen',
    text: texts.noResultSeen,
    reason,
  }
}

/** A call that may have started, and whose end was not reported. */
export const noResultInTime: CallEnding = outcomeUnknown(texts.noResultInTime, 'no result in time')

/** Statuses that promise that a call never ran in any try. */
export function promisesNeverRan(status: ResultStatus): boolean {
  return status === 'denied' || status === 'skipped'
}
