// A turn: its state while it is open, and the records that begin it and request a round.
// CONVERSATION-TURN-1. Neither the state nor the records of a round grow with the turn or the
//     conversation: the history has the texts.

import { lowestCaps } from '../../shared/contract/caps.ts'
import type { ConversationId } from '../../shared/contract/ids.ts'
import { limits } from '../../shared/contract/limits.ts'
import type {
  Cap,
  Caps,
  QueuedMessage,
  RoundOutcome,
  Totals,
} from '../../shared/contract/messages.ts'
import type { Output } from '../../shared/contract/stage.ts'
import type { Milliseconds } from '../../shared/lib/clock.ts'
import { underCeilings } from './caps.ts'

/** Where a record of the conversation was read. */
export type Place = { conversation: ConversationId; offset: number; time: Milliseconds }

export type Turn = {
  /** The offset of the record that opened it. */
  turn: number
  /** Of the message, without its text: that stands in the history. */
  message: Omit<QueuedMessage, 'text'>
  openedAt: Milliseconds
  caps: Caps
  /** To when rounds that waited for slow guards made it longer; 0: none did. */
  extendedTo: Milliseconds
  /** Of all rounds that are over. */
  used: { calls: number; inputTokens: number; outputTokens: number }
  asked: Asked
}

/** The round whose outcome is awaited. */
export type Asked = {
  round: number
  callsLeft: number
  nudge: string | null
  textOnly: TextOnly | null
}

/**
 * Why no tool may be called in a round: a cap is reached, or the detector wants it so; both may be.
 */
export type TextOnly = { cap: Cap | null; reason: string }

/** What must be known of a round in order to end it from outside. */
export type Outstanding = {
  turn: number
  round: number
  nudge: string | null
  expiresAt: Milliseconds
}

/** A new turn, its user's message in the history, and its first request. */
export function beginTurn(
  place: Place,
  { text, ...message }: QueuedMessage,
): { turn: Turn; records: Output[] } {
  const { conversation, offset, time } = place
  const caps = underCeilings(message.settings.policy.caps)
  const asked: Asked = { round: 1, callsLeft: caps.calls, nudge: null, textOnly: null }
  const turn: Turn = {
    turn: offset,
    message,
    openedAt: time,
    caps,
    extendedTo: 0,
    used: { calls: 0, inputTokens: 0, outputTokens: 0 },
    asked,
  }
  const { messageId, agent } = message
  const records: Output[] = [
    {
      to: 'history',
      message: {
        type: 'history-entry',
        conversation,
        turn: offset,
        round: 0,
        user: text,
        response: null,
        results: [],
        nudge: null,
        note: null,
      },
    },
    requestOf(conversation, turn),
    {
      to: 'activity',
      message: { type: 'turn-started', conversation, turn: offset, messageId, agent },
    },
    roundStartedOf(conversation, turn),
  ]
  return { turn, records }
}

/** The turn with its next round asked for. */
export function askNext(
  place: Place,
  turn: Turn,
  ask: Omit<Asked, 'round'>,
): { turn: Turn; records: Output[] } {
  const next: Turn = { ...turn, asked: { ...ask, round: turn.asked.round + 1 } }
  return {
    turn: next,
    records: [requestOf(place.conversation, next), roundStartedOf(place.conversation, next)],
  }
}

/**
 * The turn after a round: what it used is counted, refused calls and cached tokens included, and
 * the operator's caps are heard.
 */
export function counted(turn: Turn, { response, policy }: RoundOutcome): Turn {
  const { inputTokens, outputTokens, cacheReadTokens, cacheWriteTokens } = response.usage
  return {
    ...turn,
    caps: lowestCaps(turn.caps, policy.caps),
    used: {
      calls: turn.used.calls + response.calls.length,
      inputTokens: turn.used.inputTokens + inputTokens + cacheReadTokens + cacheWriteTokens,
      outputTokens: turn.used.outputTokens + outputTokens,
    },
  }
}

/** The append time from which nothing of the turn may start, and at which it is over. */
export function expiresAt({ openedAt, caps, extendedTo }: Turn): Milliseconds {
  return Math.max(openedAt + caps.wallMs, extendedTo)
}

/** The caps in force now: with the wall limit as slow guards have extended it. */
export function capsNow(turn: Turn): Caps {
  return { ...turn.caps, wallMs: expiresAt(turn) - turn.openedAt }
}

/** The turn when a round of it waits for slow guards; under a ceiling that no message can lift. */
export function extended(turn: Turn, until: Milliseconds): Turn {
  const ceiling = turn.openedAt + limits.turnWallMsMax + limits.turnExtensionMsMax
  return { ...turn, extendedTo: Math.max(turn.extendedTo, Math.min(until, ceiling)) }
}

export function totalsOf({ asked, used, openedAt }: Turn, time: Milliseconds): Totals {
  return { rounds: asked.round, ...used, wallMs: time - openedAt }
}

export function outstandingOf(turn: Turn): Outstanding {
  return {
    turn: turn.turn,
    round: turn.asked.round,
    nudge: turn.asked.nudge,
    expiresAt: expiresAt(turn),
  }
}

function requestOf(conversation: ConversationId, turn: Turn): Output {
  const { agent, tools, settings } = turn.message
  const { round, callsLeft, nudge } = turn.asked
  return {
    to: 'model',
    message: {
      type: 'model-request',
      conversation,
      turn: turn.turn,
      round,
      historyRound: round - 1,
      nudge,
      callsLeft,
      agent,
      tools,
      settings,
      expiresAt: expiresAt(turn),
    },
  }
}

function roundStartedOf(
  conversation: ConversationId,
  { turn, asked: { round, callsLeft, nudge } }: Turn,
): Output {
  return {
    to: 'activity',
    message: {
      type: 'round-started',
      conversation,
      turn,
      round,
      callsLeft,
      nudged: nudge !== null,
    },
  }
}
