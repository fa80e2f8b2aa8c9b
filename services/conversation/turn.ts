// A turn: its state while it is open, and the records that open it and request a round.
//
// CONVERSATION-TURN-1. Neither the state nor the records of a round grow with the turn or the
//     conversation. The texts are in the history.

import type { ConversationId } from '../../shared/contract/ids.ts'
import { limits } from '../../shared/contract/limits.ts'
import type {
  Cap,
  Caps,
  QueuedMessage,
  RoundOutcome,
  TokenSum,
  Totals,
} from '../../shared/contract/messages.ts'
import type { Output } from '../../shared/contract/stage.ts'
import { lowestCaps } from '../../shared/contract/turn/caps.ts'
import { userEntry } from '../../shared/contract/turn/turn-endings.ts'
import { underCeilings } from '../../shared/contract/turn/turn-rules.ts'
import type { Milliseconds } from '../../shared/lib/clock.ts'

/** The position of a record that the conversation reads. */
export type Place = { conversation: ConversationId; offset: number; time: Milliseconds }

export type Turn = {
  /** The offset of the record that opened it. */
  turn: number
  /** The message without its text, which is in the history. */
  message: Omit<QueuedMessage, 'text'>
  openedAt: Milliseconds
  caps: Caps
  /** The end to which rounds with slow guards extended it. 0: none did. */
  extendedTo: Milliseconds
  /** The sum over all finished rounds, with the turns of agents that their calls ran. */
  used: { calls: number; inputTokens: number; outputTokens: number }
  requested: RequestedRound
  /** Rounds that were requested because a reply did not fit its schema. */
  outputRetries: number
}

/** The round whose outcome is awaited. */
export type RequestedRound = {
  round: number
  callsLeft: number
  nudge: string | null
  textOnly: TextOnly | null
}

/** The reason why a round can call no tool: a cap is reached, the detector requires it, or both. */
export type TextOnly = { cap: Cap | null; reason: string }

/** The part of a round that is needed to end it from outside. */
export type Outstanding = {
  turn: number
  round: number
  nudge: string | null
  expiresAt: Milliseconds
}

/** A new turn, its user's message in the history, and its first request. */
export function openTurn(
  place: Place,
  { text, ...message }: QueuedMessage,
): { turn: Turn; records: Output[] } {
  const { conversation, offset, time } = place
  const caps = underCeilings(message.settings.policy.caps)
  const requested: RequestedRound = { round: 1, callsLeft: caps.calls, nudge: null, textOnly: null }
  const turn: Turn = {
    turn: offset,
    message,
    openedAt: time,
    caps,
    extendedTo: 0,
    used: { calls: 0, inputTokens: 0, outputTokens: 0 },
    requested,
    outputRetries: 0,
  }
  const { messageId, agent } = message
  const records: Output[] = [
    userEntry({ conversation, turn: offset }, text, {
      contents: message.settings.contents,
      redact: message.settings.policy.redact,
    }),
    requestOf(conversation, turn),
    {
      to: 'activity',
      message: { type: 'turn-started', conversation, turn: offset, messageId, agent },
    },
    roundStartedOf(conversation, turn),
  ]
  return { turn, records }
}

/** Requests the next round of the turn. */
export function requestNext(
  place: Place,
  turn: Turn,
  request: Omit<RequestedRound, 'round'>,
): { turn: Turn; records: Output[] } {
  const next: Turn = { ...turn, requested: { ...request, round: turn.requested.round + 1 } }
  return {
    turn: next,
    records: [requestOf(place.conversation, next), roundStartedOf(place.conversation, next)],
  }
}

/**
 * The turn after a round, with the caps of the operator. Refused calls, cached tokens and the tokens
 * of agents that its calls ran count.
 */
export function addRound(turn: Turn, { response, results, policy }: RoundOutcome): Turn {
  const { inputTokens, outputTokens, cacheReadTokens, cacheWriteTokens } = response.usage
  const ofAgents = (name: keyof TokenSum) =>
    results.reduce((sum, { tokens }) => sum + (tokens?.[name] ?? 0), 0)
  return {
    ...turn,
    caps: lowestCaps(turn.caps, policy.caps),
    used: {
      calls: turn.used.calls + response.calls.length,
      inputTokens:
        turn.used.inputTokens +
        inputTokens +
        cacheReadTokens +
        cacheWriteTokens +
        ofAgents('inputTokens'),
      outputTokens: turn.used.outputTokens + outputTokens + ofAgents('outputTokens'),
    },
  }
}

/** The append time at which the turn is over. From then on nothing of it may start. */
export function expiresAt({ openedAt, caps, extendedTo }: Turn): Milliseconds {
  return Math.max(openedAt + caps.wallMs, extendedTo)
}

/** The caps in force. The wall limit includes the extension by slow guards. */
export function capsNow(turn: Turn): Caps {
  return { ...turn.caps, wallMs: expiresAt(turn) - turn.openedAt }
}

/** The turn extended by slow guards, up to a ceiling that no message can raise. */
export function extended(turn: Turn, until: Milliseconds): Turn {
  const ceiling = turn.openedAt + limits.turnWallMsMax + limits.turnExtensionMsMax
  return { ...turn, extendedTo: Math.max(turn.extendedTo, Math.min(until, ceiling)) }
}

export function totalsOf({ requested, used, openedAt }: Turn, time: Milliseconds): Totals {
  return { rounds: requested.round, ...used, wallMs: time - openedAt }
}

export function outstandingOf(turn: Turn): Outstanding {
  return {
    turn: turn.turn,
    round: turn.requested.round,
    nudge: turn.requested.nudge,
    expiresAt: expiresAt(turn),
  }
}

function requestOf(conversation: ConversationId, turn: Turn): Output {
  const { agent, tools, settings } = turn.message
  const { round, callsLeft, nudge } = turn.requested
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
  { turn, requested: { round, callsLeft, nudge } }: Turn,
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
      key: '',
      turnKey: '',
    },
  }
}
