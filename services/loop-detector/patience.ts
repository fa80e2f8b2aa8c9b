// How many rounds a repetition may last before it is a loop, from the thresholds of the policy and
// the kind of repetition.

import type { LoopThresholds } from '../../shared/contract/messages.ts'
import type { Milliseconds } from '../../shared/lib/clock.ts'
import { type FailureKind, ignoresValues } from './evidence/failure-kind.ts'

/** For a wait: its time without news. */
export function waitMsMax({ waitMinutes }: LoopThresholds): Milliseconds {
  return waitMinutes * 60_000
}

/**
 * For looks at a thing that runs which come faster than any agent waits, or without a clock. Never
 * below the limit for other successes. A real poller needed 1,535 rounds.
 */
export function hastyRoundsMax({ identicalSuccesses }: LoopThresholds): number {
  return Math.max(identicalSuccesses, 25)
}

/**
 * For looks that can only cost tokens: at an agent whose end comes by itself, less than a minute apart
 * on average, and at a thing that cannot start.
 */
export function vainLooksMax({ identicalSuccesses }: LoopThresholds): number {
  return 2 * identicalSuccesses
}

/** Looks at an agent that are further apart, on average, have the bound of any wait. */
export const agentLookMs: Milliseconds = 60_000

/**
 * For looks after a sleep below five seconds, if no answer states that something runs. An honest wait
 * has news or an end before that.
 */
export function briefRoundsMax({ identicalSuccesses }: LoopThresholds): number {
  return Math.max(identicalSuccesses, 100)
}

/** Looks that are closer together, on average, are hasty: no model and tool take less time. */
export const hastyMs: Milliseconds = 1000

/** For a call that goes on from where the one before it ended, and whose short answer is no view. */
export function stepRoundsMax({ identicalSuccesses }: LoopThresholds): number {
  return 2 * identicalSuccesses
}

/** For transient failures: capacity and network may recover, but ten rounds are no recovery. */
export function transientRoundsMax({ identicalFailures }: LoopThresholds): number {
  return Math.max(identicalFailures, 10)
}

/**
 * For one error of one tool under different arguments. The likelier the values are its cause, the
 * higher the limit. `namesValues`: the error names the values that differ.
 */
export function sameErrorRoundsMax(
  kind: FailureKind,
  namesValues: boolean,
  thresholds: LoopThresholds,
): number {
  const { identicalFailures } = thresholds
  if (kind === 'transient') return transientRoundsMax(thresholds)
  if (kind === 'miss') return 2 * identicalFailures
  if (ignoresValues(kind))
    return namesValues && kind === 'denied' ? identicalFailures + 1 : identicalFailures
  // An error that names the differing values is like a miss: other values may help.
  return namesValues ? 2 * identicalFailures : identicalFailures + 1
}

/**
 * For a failure that successes report, and for one service that is down or refuses the right, seen
 * through several tools. The words may be meant otherwise, so the limit is that of an error that
 * names the differing values.
 */
export function reportedRoundsMax(kind: FailureKind, thresholds: LoopThresholds): number {
  return kind === 'transient' ? transientRoundsMax(thresholds) : 2 * thresholds.identicalFailures
}

/**
 * For calls of one tool that break its schema in any way. A large schema takes some rounds to learn.
 */
export function schemaRoundsMax({ schemaFailures }: LoopThresholds): number {
  return 2 * schemaFailures
}

/**
 * For one answer to different calls, for rounds in a row that bring only known calls with known
 * results, and for one text that is written into one place. Each may be honest for some rounds.
 */
export function sameAnswerRoundsMax({ identicalSuccesses }: LoopThresholds): number {
  return identicalSuccesses + 3
}

/** Rounds from one message to the next for a streak in which every call and error is new. */
export const newErrorsRounds = 3

/**
 * For one answer to calls about different subjects, and for calls in a row with the same words and
 * another number. Both may be a batch. Most batches are siblings
 * of one round.
 */
export function batchRoundsMax(thresholds: LoopThresholds): number {
  return 2 * sameAnswerRoundsMax(thresholds)
}

/**
 * For a repeated fan-out. It makes several calls at once, so it needs fewer rounds than a single
 * call: the laps of a cycle and one more.
 */
export function sameRoundsMax({ cycleLaps }: LoopThresholds): number {
  return cycleLaps + 1
}

/**
 * The minimum for a response that repeats itself: repeats in a row, fewer for a long unit, and
 * words in total. Refrains and emphasis are shorter.
 */
export const chantMin = { times: 10, timesOfLong: 5, longWords: 12, words: 40 }

/** The answered texts per turn that are built like a call and cannot run (I2). */
export const unreadCallsMax = 2

/** Responses in a row with text and no call: with the same text, and with any text. */
export const monologueMin = { same: 3, any: 6 }
