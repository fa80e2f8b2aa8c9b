// The records that end a turn or a round at the other stages and in the history. Conversations and
// guests write them.

import { shortened } from '../../lib/text-cut.ts'
import { missingRound } from '../../model-texts/requests.ts'
import type { RoundId, TurnId } from '../ids.ts'
import { limits } from '../limits.ts'
import type { Cancel, Content, HistoryEntry, RedactRule, RoundOutcome } from '../messages.ts'
import type { Output } from '../stage.ts'
import type { Port } from '../topology.ts'

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
  { contents = [], redact }: { contents?: Content[]; redact: RedactRule[] },
): Output {
  const content = { contents, results: [], nudge: null, response: null, note: null, redact }
  return {
    to: 'history',
    message: { type: 'history-entry', conversation, turn, round: 0, user, ...content },
  }
}

function entry(of: Omit<HistoryEntry, 'type' | 'user' | 'contents'>): Output {
  return { to: 'history', message: { type: 'history-entry', user: null, contents: [], ...of } }
}
