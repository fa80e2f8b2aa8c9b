// A turn: its state while it is open, and the records that open it and request a round.
//
// CONVERSATION-TURN-1. Neither the state nor the records of a round grow with the turn or the
//     conversation. The texts are in the history.

import type { Cap, QueuedMessage } from '../../shared/contract/messages.ts'
import type { Output } from '../../shared/contract/stage.ts'
import { type Allowance, expiresAt, newAllowance, withRound } from '../turn/allowance.ts'
import { roundStarted, userEntry } from '../turn/endings.ts'
import type { Outstanding, Place } from '../turn/unit.ts'

export type Turn = {
  /** The offset of the record that opened it. */
  turn: number
  /** The message without its text, which is in the history. */
  message: Omit<QueuedMessage, 'text'>
  allowance: Allowance
  requested: RequestedRound
  /** Rounds that were requested because a reply did not fit its schema. */
  outputRetries: number
}

/** The round whose outcome is awaited. */
export type RequestedRound = {
  callsLeft: number
  nudge: string | null
  textOnly: TextOnly | null
}

/** The reason why a round can call no tool: a cap is reached, the detector requires it, or both. */
export type TextOnly = { cap: Cap | null; reason: string }

/** A new turn, its user's message in the history, and its first request. */
export function openTurn(
  place: Place,
  { text, ...message }: QueuedMessage,
): { turn: Turn; records: Output[] } {
  const { conversation, offset, time } = place
  const { contents, policy } = message.settings
  const allowance = withRound(newAllowance(policy.caps, time))
  const requested = { callsLeft: allowance.caps.calls, nudge: null, textOnly: null }
  const turn: Turn = { turn: offset, message, allowance, requested, outputRetries: 0 }
  const { messageId, agent } = message
  const records: Output[] = [
    userEntry({ conversation, turn: offset }, text, { contents, redact: policy.redact }),
    requestOf(conversation, turn),
    {
      to: 'activity',
      message: { type: 'turn-started', conversation, turn: offset, messageId, agent },
    },
    startOf(conversation, turn),
  ]
  return { turn, records }
}

/** Requests the next round of the turn. */
export function requestNext(
  { conversation }: Place,
  { allowance, ...turn }: Turn,
  requested: RequestedRound,
): { turn: Turn; records: Output[] } {
  const next: Turn = { ...turn, allowance: withRound(allowance), requested }
  return { turn: next, records: [requestOf(conversation, next), startOf(conversation, next)] }
}

export function outstandingOf({ turn, allowance, requested: { nudge } }: Turn): Outstanding {
  return { turn, round: allowance.used.rounds, nudge, expiresAt: expiresAt(allowance) }
}

function requestOf(conversation: Place['conversation'], turn: Turn): Output {
  const { agent, tools, settings } = turn.message
  const { callsLeft, nudge } = turn.requested
  const { round, expiresAt } = outstandingOf(turn)
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
      expiresAt,
    },
  }
}

function startOf(conversation: Place['conversation'], turn: Turn): Output {
  return roundStarted({ conversation, ...outstandingOf(turn) }, turn.requested)
}
