// Endings: the records that end a turn, a round, or a message that never opened a turn.

import type { MessageId, TurnId } from '../../shared/contract/ids.ts'
import { limits } from '../../shared/contract/limits.ts'
import type {
  AgentSettings,
  Cap,
  FailureClass,
  HistoryEntry,
  RoundOutcome,
  Totals,
} from '../../shared/contract/messages.ts'
import type { Output } from '../../shared/contract/stage.ts'
import { latestOutcome } from '../../shared/contract/tool-deadline.ts'
import type { Milliseconds } from '../../shared/lib/clock.ts'
import { shortened } from '../../shared/lib/text-cut.ts'
import { notes, reasons } from './texts.ts'
import { expiresAt, type Outstanding, type Place, type Turn, totalsOf } from './turn.ts'

/** How a turn ends. Without `reply` the user gets the agent's fallback. */
export type Ending =
  | { outcome: 'answered'; reply: string; reason: string; class: null; cap: Cap | null }
  | { outcome: 'capped'; reason: string; class: 'budget'; cap: Cap }
  | { outcome: 'failed' | 'cancelled'; reason: string; class: FailureClass; cap: null }

export const cancelledByClient: Ending = {
  outcome: 'cancelled',
  reason: reasons.cancelled,
  class: 'cancelled',
  cap: null,
}

export function internalFailure(stage: string, reason: string): Ending {
  return {
    outcome: 'failed',
    reason: reasons.internal(stage, reason),
    class: 'internal',
    cap: null,
  }
}

/** Tells clients how an open turn ended. */
export function turnFinished({ conversation, time }: Place, turn: Turn, ending: Ending): Output {
  const { messageId, settings } = turn.message
  return finished({
    conversation,
    turn: turn.turn,
    messageId,
    settings,
    ending,
    totals: totalsOf(turn, time),
  })
}

/** Tells clients of a message that opened no turn: it was refused, or taken out of the queue. */
export function neverOpened(
  { conversation, offset }: Place,
  message: { messageId: MessageId; settings: AgentSettings },
  ending: Ending,
): Output {
  const totals = { rounds: 0, calls: 0, inputTokens: 0, outputTokens: 0, wallMs: 0 }
  return finished({
    conversation,
    turn: offset,
    messageId: message.messageId,
    settings: message.settings,
    ending,
    totals,
  })
}

type Finished = TurnId & {
  messageId: MessageId
  settings: AgentSettings
  ending: Ending
  totals: Totals
}

function finished({ settings, ending, ...whose }: Finished): Output {
  // What an over-long fallback is refused with must itself fit (R7).
  const reply = shortened(settings.fallback, limits.fallbackBytesMax)
  return { to: 'activity', message: { type: 'turn-finished', reply, ...ending, ...whose } }
}

/** Closes a turn at loop-detector and executor; all its rounds were answered. */
export function turnEnded({ conversation }: Place, turn: number): Output[] {
  return (['verdict', 'tools'] as const).map((to) => ({
    to,
    message: { type: 'turn-ended', conversation, turn },
  }))
}

/** Forbids whatever of the outstanding round has not begun. */
export function cancel({ conversation }: Place, { turn, round, expiresAt }: Outstanding): Output[] {
  return (['model', 'verdict', 'tools'] as const).map((to) => ({
    to,
    message: { type: 'cancel', conversation, turn, round, expiresAt },
  }))
}

/** What a round adds to the history: also when it is empty or failed (CONV-5). */
export function roundEntry(
  { conversation, turn, round, response, failure, results }: RoundOutcome,
  nudge: string | null,
): Output {
  const said =
    failure === null
      ? { response, note: null }
      : { response: null, note: notes.failed(failure.reason) }
  return entry({ conversation, turn, round, results, nudge, ...said })
}

/** The entry of a round whose outcome will not come. */
export function lostEntry(
  { conversation }: Place,
  { turn, round, nudge }: Outstanding,
  note: string,
): Output {
  return entry({ conversation, turn, round, results: [], nudge, response: null, note })
}

function entry(of: Omit<HistoryEntry, 'type' | 'user'>): Output {
  return { to: 'history', message: { type: 'history-entry', user: null, ...of } }
}

/**
 * How long the outcome of a turn that was ended early is waited for: the time by which
 * loop-detector and executor must have given it. Where that has passed already (nobody ran for
 * long) the wait ends with the next tick; it is later than now because a tick must move what is
 * due.
 */
export function waitUntil(turn: Turn, now: Milliseconds): Milliseconds {
  const { settings, toolTimeoutMsMax } = turn.message
  return Math.max(latestOutcome(expiresAt(turn), settings.policy, toolTimeoutMsMax), now + 1)
}
