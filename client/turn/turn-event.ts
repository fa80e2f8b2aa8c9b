// The events of a turn, as programs, servers and the command line see them. docs/reference/events.md
// describes each, and test/client/turn/turn-events.unit.test.ts holds the JSON of each kind.
// TURN-EVENT-1. Version 1 only gains kinds and fields. A change of a field's meaning is a new version.

import type { ConversationId, RoundId } from '../../shared/contract/ids.ts'
import type { AnsweredCall, MessageOf, TurnFinished } from '../../shared/contract/messages.ts'
import type { CallInput } from '../../shared/view/messages/call-input.ts'

/** The version of the events. Each carries it as `v`. */
export const turnEventVersion = 1

/**
 * `position`: opaque; the place behind this event. Reading `after` it continues with the next event,
 * in any process that can read the log.
 */
export type Placed = { v: typeof turnEventVersion; position: string }

/** A piece of the model's text. Preliminary: only the reply of `turn-finished` counts. */
export type TextDelta = { type: 'text-delta'; text: string } & RoundId

/** A piece of the model's reasoning, if the provider shows it, as it is streamed. */
export type ReasoningDelta = { type: 'reasoning-delta'; text: string } & RoundId

/** All text and reasoning of the round so far is void. */
export type TextReset = { type: 'text-reset' } & RoundId

/** An earlier turn of the conversation is not over. This one begins after it. */
export type TurnWaiting = { type: 'turn-waiting'; conversation: ConversationId }

/**
 * The response of a round is complete. The text-deltas of the round since its last text-reset are
 * `text`, as far as it is not cut. `textBytes`, `argumentsBytes`: of the whole texts.
 */
export type ModelAnsweredEvent = Omit<MessageOf<'model-answered'>, 'calls'> & {
  calls: (AnsweredCall & CallInput)[]
}

/** An event without its version and position. */
export type TurnEventBody =
  | TurnWaiting
  | MessageOf<'turn-started' | 'round-started'>
  | TextDelta
  | ReasoningDelta
  | TextReset
  | MessageOf<'model-retry' | 'budget-reached'>
  | ModelAnsweredEvent
  | (MessageOf<'call-denied'> & CallInput)
  | MessageOf<
      | 'intervention-raised'
      | 'calls-waiting'
      | 'guard-verdict-given'
      | 'approval-pending'
      | 'approval-decided'
    >
  | (MessageOf<'tool-started' | 'call-offered'> & CallInput)
  | MessageOf<'call-finished'>
  | TurnFinished

/**
 * All events of a turn, distinguished by `type`. shared/contract/messages.ts describes the fields
 * of those that are records of the log.
 */
export type TurnEvent = TurnEventBody & Placed

/** The place of a call in its conversation, as its events have it. */
export type CallPlace = { turn: number; round: number; ordinal: number }

/** The whole texts of a call. `result` null: it has none. */
export type WholeCall = CallPlace & {
  id: string
  name: string
  arguments: string
  result: string | null
}
