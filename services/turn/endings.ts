// The end of a turn or a round: the records for the other stages, the history and the clients.
// Conversations and guests write them.

import type { RoundId, TurnId } from '../../shared/contract/ids.ts'
import { limits } from '../../shared/contract/limits.ts'
import type {
  Cancel,
  Content,
  FailureClass,
  HistoryEntry,
  RedactRule,
  RoundOutcome,
  RoundStarted,
  TurnFinished,
} from '../../shared/contract/messages.ts'
import type { Output } from '../../shared/contract/stage.ts'
import type { Port } from '../../shared/contract/topology.ts'
import { reasons } from '../../shared/contract/turn/turn-texts.ts'
import type { Milliseconds } from '../../shared/lib/clock.ts'
import { shortened } from '../../shared/lib/text-cut.ts'
import { missingRound } from '../../shared/model-texts/requests.ts'
import type { CapStep } from './allowance.ts'

export type Ending = Pick<TurnFinished, 'outcome' | 'reason' | 'class' | 'cap'>

export const cancelled = {
  outcome: 'cancelled',
  reason: reasons.cancelled,
  class: 'cancelled',
  cap: null,
} satisfies Ending

export function capped({ cap, reason }: CapStep): Ending {
  return { outcome: 'capped', reason, class: 'budget', cap }
}

export function failed(failureClass: FailureClass, reason: string): Ending {
  return { outcome: 'failed', reason, class: failureClass, cap: null }
}

export function internalFailure(stage: string, reason: string): Ending {
  return failed('internal', reasons.internal(stage, reason))
}

/** Closes a turn at loop-detector and executor. All its rounds have an outcome. */
export function turnEnded({ conversation, turn }: TurnId): Output[] {
  return (['verdict', 'tools'] as const).map((to) => ({
    to,
    message: { type: 'turn-ended', conversation, turn },
  }))
}

/** Stops every part of the outstanding round that has not begun. */
export function cancelAt(
  ports: readonly Port[],
  { conversation, turn, round, expiresAt }: Omit<Cancel, 'type'>,
): Output[] {
  return ports.map((to) => ({
    to,
    message: { type: 'cancel', conversation, turn, round, expiresAt },
  }))
}

/** Ends a round without an outcome: its entry in the history, and the stop of its parts. */
export function loseRound(
  ports: readonly Port[],
  round: RoundId & { nudge: string | null; expiresAt: Milliseconds },
  note: string,
): Output[] {
  return [lostEntry(round, note), ...cancelAt(ports, round)]
}

/** Reports to clients that a round began. `key` and `turnKey`: of a guest. */
export function roundStarted(
  { conversation, turn, round }: RoundId,
  { callsLeft, nudge, caps }: Pick<RoundStarted, 'callsLeft' | 'caps'> & { nudge: string | null },
  { key = '', turnKey = '' }: Partial<Pick<RoundStarted, 'key' | 'turnKey'>> = {},
): Output {
  const nudged = nudge !== null
  const type = 'round-started'
  return {
    to: 'activity',
    message: { type, conversation, turn, round, callsLeft, nudged, key, turnKey, caps },
  }
}

/** The history entry of a round, also of an empty or failed one. */
export function roundEntry(
  { conversation, turn, round, response, failure, results, policy: { redact } }: RoundOutcome,
  nudge: string | null,
): Output {
  const content =
    failure === null
      ? { response, note: null }
      : {
          response: null,
          note: shortened(missingRound.failed(failure.reason), limits.reasonBytesMax),
        }
  return entry({ conversation, turn, round, results, nudge, redact, ...content })
}

/** The history entry of a round without an outcome. */
export function lostEntry(
  { conversation, turn, round, nudge }: RoundId & { nudge: string | null },
  note: string,
): Output {
  return entry({ conversation, turn, round, results: [], nudge, response: null, note, redact: [] })
}

/** The history entry of the user's message: round 0. */
export function userEntry(
  { conversation, turn }: TurnId,
  user: string,
  {
    contents = [],
    afterTurn = null,
    redact,
  }: { contents?: Content[]; afterTurn?: number | null; redact: RedactRule[] },
): Output {
  const none = { results: [], nudge: null, response: null, note: null }
  const message = { conversation, turn, round: 0, user, contents, afterTurn, redact, ...none }
  return { to: 'history', message: { type: 'history-entry', ...message } }
}

function entry(of: Omit<HistoryEntry, 'type' | 'user' | 'contents' | 'afterTurn'>): Output {
  const none = { user: null, contents: [], afterTurn: null }
  return { to: 'history', message: { type: 'history-entry', ...none, ...of } }
}
