// How often something may come back before it is a loop, where that follows from the policy's
// thresholds and the kind of thing it is.

import type { LoopThresholds } from '../../shared/contract/messages.ts'
import { type FailureKind, ignoresValues } from './failure-kind.ts'

/**
 * Looks at something that is meant to be looked at again, or before each of which the model waited:
 * no fewer than of other successes. A real one went on for 1,535 looks.
 */
export function polls({ identicalSuccesses }: LoopThresholds): number {
  return Math.max(identicalSuccesses, 25)
}

/** Capacity and network may recover; ten times in a row they did not. */
export function transientFailures({ identicalFailures }: LoopThresholds): number {
  return Math.max(identicalFailures, 10)
}

/**
 * Rounds with one error of one tool under different arguments: the likelier the values are its
 * cause, the more. `namesValues`: it names those that differ.
 */
export function sameErrors(
  kind: FailureKind,
  namesValues: boolean,
  thresholds: LoopThresholds,
): number {
  const { identicalFailures } = thresholds
  if (kind === 'transient') return transientFailures(thresholds)
  if (kind === 'miss') return 2 * identicalFailures
  if (ignoresValues(kind))
    return namesValues && kind === 'denied' ? identicalFailures + 1 : identicalFailures
  // An error that names the very values that differ is as good as a miss: other values may help.
  return namesValues ? 2 * identicalFailures : identicalFailures + 1
}

/** Rounds with one answer to different calls: rewording may be honest search for a while. */
export function sameAnswers({ identicalSuccesses }: LoopThresholds): number {
  return identicalSuccesses + 3
}

/**
 * Rounds with one answer to calls about different things: a batch for so long, and most batches
 * come as siblings of one round.
 */
export function sameAnswersOfOthers(thresholds: LoopThresholds): number {
  return 2 * sameAnswers(thresholds)
}

/**
 * A fan-out is more calls at once, so it needs fewer rounds than a single call; as many as a lap
 * and one honest look more.
 */
export function sameRounds({ cycleLaps }: LoopThresholds): number {
  return cycleLaps + 1
}

/**
 * One response that repeats itself: so many times in a row, sooner where the unit is long, and so
 * many words of it. Refrains and emphasis are shorter.
 */
export const chantMin = { times: 10, timesOfLong: 5, longWords: 12, words: 40 }

/** Texts in a turn that are built like a call and cannot run, each of which is answered (I2). */
export const unreadCallsMax = 2

/** Responses in a row that speak and do nothing: of the same text, and of any. */
export const monologueMin = { same: 3, any: 6 }
