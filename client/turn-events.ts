// What is heard of a conversation, as the events of one turn. Pure: records in, events out.
// TURN-EVENTS-1. Of other turns nothing is passed on, but once that this one waits for them.
// TURN-EVENTS-2. Parts are streamed text as long as nobody has decided: a new attempt of a round
//     makes void what was streamed in it, and what is known only from its middle on is left out.
//     Nothing is heard twice, however often it was written.
// TURN-EVENTS-3. turn-finished is the last event. When the turn was ended from outside it waits for
//     the calls that were running at that time.

import type {
  CallFinished,
  MessageOf,
  Part,
  ToolStarted,
  TurnFinished,
} from '../shared/contract/messages.ts'
import { unreachable } from '../shared/contract/stage.ts'
import type { Activity } from './edge.ts'
import type { Heard } from './feed.ts'

type Place = { conversation: string; turn: number; round: number }

/**
 * A piece of what the model says, as it comes. Preliminary: what counts is the reply of
 * `turn-finished`.
 */
export type TextDelta = { type: 'text-delta'; text: string } & Place

/** A piece of what the model thinks, where the provider shows it. */
export type ReasoningDelta = { type: 'reasoning-delta'; text: string } & Place

/**
 * The model is asked for this round once more: all text and reasoning of the round so far is void.
 */
export type TextReset = { type: 'text-reset' } & Place

/** An earlier turn of the conversation is not over, and this one begins after it. */
export type TurnWaiting = { type: 'turn-waiting'; conversation: string }

/**
 * Everything that is heard of a turn. `type` tells the members apart; the ones of the log are
 * described with their fields in shared/contract/messages.ts.
 */
export type TurnEvent =
  | TurnWaiting
  | MessageOf<'turn-started' | 'round-started'>
  | TextDelta
  | ReasoningDelta
  | TextReset
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
  /** The end of the turn, as soon as it was heard. */
  readonly finished: TurnFinished | undefined
  /** Nothing more will come. */
  readonly isOver: boolean
  activity(heard: Heard<Activity>): TurnEvent[]
  part(part: Part): TurnEvent[]
  /** The calls that the end waits for are not waited for any longer. */
  endNow(): TurnEvent[]
}

/**
 * Parts that may be heard before the turn's number is known: activity may come later than they do.
 */
const earlyPartsMax = 256

/**
 * `attempt`: the one whose parts are passed on, and the number of the next; `replaced`: those of
 * the round before it.
 */
type Streaming = {
  round: number
  attempt: string
  next: number
  hasText: boolean
  replaced: Set<string>
}

/** The events of the turn that this message opens. */
export function createTurnEvents(messageId: string): TurnEvents {
  const seen = new Set<string>()
  const running = new Set<string>()
  let turn: number | undefined
  let isWaiting = false
  let early: Part[] = []
  let streaming: Streaming | undefined
  let finished: TurnFinished | undefined
  let isOver = false

  function activity({ id, message }: Heard<Activity>): TurnEvent[] {
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
        running.add(nameOf(message))
        return [message]
      case 'call-finished':
        running.delete(nameOf(message))
        return [message, ...endIfDone()]
      default:
        return unreachable(message)
    }
  }

  function begin(number: number): TurnEvent[] {
    turn = number
    const parts = early
    early = []
    return parts.flatMap(part)
  }

  function wait({ type, conversation }: Activity): TurnEvent[] {
    if (isWaiting || type === 'turn-finished') return [] // a message that was refused has one too, and nobody waits for what is over
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

  function part(heard: Part): TurnEvent[] {
    if (finished !== undefined) return []
    if (turn === undefined) {
      if (early.length < earlyPartsMax) early.push(heard)
      return []
    }
    if (heard.turn !== turn) return []
    const reset = follow(heard)
    if (
      streaming === undefined ||
      streaming.attempt !== heard.attempt ||
      streaming.next !== heard.i
    )
      return reset
    streaming.next += 1
    const deltas = deltasOf(heard)
    streaming.hasText ||= deltas.length > 0
    return [...reset, ...deltas]
  }

  /** Moves on to the round and the attempt of this part, where they are new. */
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
    endNow,
  }
}

function nameOf({ round, ordinal }: ToolStarted | CallFinished): string {
  return `${round}/${ordinal}`
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
