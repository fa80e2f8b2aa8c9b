// The activity of a conversation as the events of one turn. Pure: records in, events out.
// TURN-EVENTS-1. Other turns give no events, except once that this turn waits for them.
// TURN-EVENTS-2. Parts are preliminary: a new attempt of a round voids its streamed text. A text
//     without its beginning is skipped. No record gives its events twice.
// TURN-EVENTS-3. turn-finished is the last event. If the turn was ended from outside, it waits for
//     the calls that were running.

import {
  type ConversationId,
  callInTurn,
  type MessageId,
  type RoundId,
} from '../shared/contract/ids.ts'
import { limits } from '../shared/contract/limits.ts'
import type { AttemptFailed, MessageOf, Part, TurnFinished } from '../shared/contract/messages.ts'
import { unreachable } from '../shared/contract/stage.ts'
import type { Milliseconds } from '../shared/lib/clock.ts'
import type { Activity } from './edge.ts'
import type { Received } from './feed.ts'

/** A piece of the model's text. Preliminary: only the reply of `turn-finished` counts. */
export type TextDelta = { type: 'text-delta'; text: string } & RoundId

/** A piece of the model's reasoning, if the provider shows it. */
export type ReasoningDelta = { type: 'reasoning-delta'; text: string } & RoundId

/** The model answers this round again: all text and reasoning of the round so far is void. */
export type TextReset = { type: 'text-reset' } & RoundId

/**
 * An attempt to get the model's response failed, and another one follows. `waitMs`: milliseconds
 * until then. The turn may end first, if its time is over.
 */
export type ModelRetry = { type: 'model-retry'; reason: string; waitMs: Milliseconds } & RoundId

/** An earlier turn of the conversation is not over. This one begins after it. */
export type TurnWaiting = { type: 'turn-waiting'; conversation: ConversationId }

/**
 * All events of a turn, distinguished by `type`. shared/contract/messages.ts describes the fields
 * of those that are records of the log.
 */
export type TurnEvent =
  | TurnWaiting
  | MessageOf<'turn-started' | 'round-started'>
  | TextDelta
  | ReasoningDelta
  | TextReset
  | ModelRetry
  | MessageOf<
      | 'call-rejected'
      | 'intervention-raised'
      | 'calls-waiting'
      | 'guard-verdict-given'
      | 'approval-pending'
      | 'approval-decided'
    >
  | MessageOf<'tool-started' | 'call-finished'>
  | TurnFinished

export type TurnEvents = {
  /** The end of the turn, once it is known. */
  readonly finished: TurnFinished | undefined
  /** No further event will come. */
  readonly isOver: boolean
  activity(received: Received<Activity>): TurnEvent[]
  part(part: Part): TurnEvent[]
  attemptFailed(failed: AttemptFailed): TurnEvent[]
  /** Ends the turn without waiting for running calls. */
  endNow(): TurnEvent[]
}

/** Parts and failed attempts that are kept until the turn is known: activity may come later. */
const earlyPartsMax = 256

/** `next`: the number of the next part of `attempt`; `replaced`: earlier attempts of the round. */
type Streaming = {
  round: number
  attempt: string
  next: number
  hasText: boolean
  replaced: Set<string>
}

/** The events of the turn that this message opens. `attempts`: of the agent's settings. */
export function createTurnEvents(messageId: MessageId, attempts = 1): TurnEvents {
  const seen = new Set<string>()
  const running = new Set<string>()
  let turn: number | undefined
  let isWaiting = false
  let early: (Part | AttemptFailed)[] = []
  let streaming: Streaming | undefined
  let failing: { round: number; failed: Set<string> } | undefined
  let finished: TurnFinished | undefined
  let isOver = false

  function activity({ id, message }: Received<Activity>): TurnEvent[] {
    if (isOver || (id !== undefined && seen.has(id))) return []
    if (id !== undefined) seen.add(id)
    if (message.type === 'turn-started' && message.messageId === messageId)
      return [message, ...begin(message.turn)]
    if (message.type === 'turn-finished' && message.messageId === messageId) return finish(message)
    if (turn === undefined) return wait(message)
    if (message.turn !== turn) return []
    switch (message.type) {
      case 'turn-started':
      case 'turn-finished':
        return []
      case 'round-started':
      case 'call-rejected':
      case 'intervention-raised':
      case 'calls-waiting':
      case 'guard-verdict-given':
      case 'approval-pending':
      case 'approval-decided':
        return [message]
      case 'tool-started':
        running.add(callInTurn(message))
        return [message]
      case 'call-finished':
        running.delete(callInTurn(message))
        return [message, ...endIfDone()]
      default:
        return unreachable(message)
    }
  }

  function begin(number: number): TurnEvent[] {
    turn = number
    const records = early
    early = []
    return records.flatMap((one) => (one.type === 'part' ? part(one) : attemptFailed(one)))
  }

  function wait({ type, conversation }: Activity): TurnEvent[] {
    if (isWaiting || type === 'turn-finished') return [] // a refused message finishes too, and the end of another turn is no reason to wait
    isWaiting = true
    return [{ type: 'turn-waiting', conversation }]
  }

  function finish(message: TurnFinished): TurnEvent[] {
    finished ??= message
    return endIfDone()
  }

  function endIfDone(): TurnEvent[] {
    return running.size === 0 ? endNow() : []
  }

  function endNow(): TurnEvent[] {
    if (finished === undefined || isOver) return []
    isOver = true
    return [finished]
  }

  function part(received: Part): TurnEvent[] {
    if (finished !== undefined) return []
    if (turn === undefined) {
      if (early.length < earlyPartsMax) early.push(received)
      return []
    }
    if (received.turn !== turn) return []
    const reset = follow(received)
    if (
      streaming === undefined ||
      streaming.attempt !== received.attempt ||
      streaming.next !== received.i
    )
      return reset
    streaming.next += 1
    const deltas = deltasOf(received)
    streaming.hasText ||= deltas.length > 0
    return [...reset, ...deltas]
  }

  /** The last try has no further attempt. A request that is sent in another form is not a try. */
  function attemptFailed(message: AttemptFailed): TurnEvent[] {
    const { conversation, round, attempt, reason, retryable, retryAfterMs } = message
    if (finished !== undefined) return []
    if (turn === undefined) {
      if (early.length < earlyPartsMax) early.push(message)
      return []
    }
    if (message.turn !== turn) return []
    if (failing?.round !== round) failing = { round, failed: new Set() }
    if (failing.failed.has(attempt)) return []
    failing.failed.add(attempt)
    const isSentOtherwise = message.historyRefused || message.toolsRefused
    const triesMax = Math.min(attempts, limits.attemptsMax)
    if (!isSentOtherwise && !(retryable && failing.failed.size < triesMax)) return []
    const waitMs = isSentOtherwise ? 0 : Math.min(Math.max(retryAfterMs, 0), limits.retryAfterMsMax)
    return [{ type: 'model-retry', conversation, turn, round, reason, waitMs }]
  }

  /** Switches to the round and the attempt of this part if they are new. */
  function follow({ conversation, turn, round, attempt }: Part): TurnEvent[] {
    if (streaming === undefined || round > streaming.round) {
      streaming = { round, attempt, next: 0, hasText: false, replaced: new Set() }
      return []
    }
    if (round < streaming.round || attempt === streaming.attempt || streaming.replaced.has(attempt))
      return []
    const { hasText, replaced } = streaming
    streaming = {
      round,
      attempt,
      next: 0,
      hasText: false,
      replaced: replaced.add(streaming.attempt),
    }
    return hasText ? [{ type: 'text-reset', conversation, turn, round }] : []
  }

  return {
    get finished() {
      return finished
    },
    get isOver() {
      return isOver
    },
    activity,
    part,
    attemptFailed,
    endNow,
  }
}

function deltasOf({ conversation, turn, round, events }: Part): (TextDelta | ReasoningDelta)[] {
  const deltas: (TextDelta | ReasoningDelta)[] = []
  for (const { kind, text } of events) {
    if ((kind !== 'text' && kind !== 'refusal' && kind !== 'reasoning') || text === '') continue
    const type = kind === 'reasoning' ? 'reasoning-delta' : 'text-delta'
    const last = deltas.at(-1)
    if (last?.type === type) last.text += text
    else deltas.push({ type, conversation, turn, round, text })
  }
  return deltas
}
