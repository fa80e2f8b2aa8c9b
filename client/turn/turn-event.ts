// The events of a turn, as programs, servers and the command line see them. docs/reference/events.md
// describes each, and test/client/turn/turn-events.unit.test.ts holds the JSON of each kind.
// TURN-EVENT-1. A version only gains kinds and fields. A change of a field's meaning is a new version.
// TURN-EVENT-2. A call has `name`, `arguments` (the value) and `rawArguments` (the text), in every event.

import type { ConversationId, RoundId } from '../../shared/contract/ids.ts'
import type {
  AnsweredCall,
  MessageOf,
  PendingCall,
  TurnFinished,
} from '../../shared/contract/messages.ts'
import type { CallArguments, WithArguments } from '../../shared/view/messages/call-arguments.ts'

/** The version of the events. Each carries it as `v`. */
export const turnEventVersion = 2

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
  calls: WithArguments<AnsweredCall>[]
}

/** Calls of the round wait for a person. */
export type ApprovalPendingEvent = Omit<MessageOf<'approval-pending'>, 'calls'> & {
  calls: WithArguments<PendingCall>[]
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
  | (MessageOf<'call-denied'> & CallArguments)
  | ApprovalPendingEvent
  | MessageOf<'intervention-raised' | 'calls-waiting' | 'guard-verdict-given' | 'approval-decided'>
  | (MessageOf<'tool-started' | 'call-offered'> & CallArguments)
  | MessageOf<'call-finished'>
  | TurnFinished

/**
 * All events of a turn, distinguished by `type`. shared/contract/messages.ts describes the fields
 * of those that are records of the log.
 */
export type TurnEvent = TurnEventBody & Placed

/** The place of a call in its conversation, as its events have it. */
export type CallPlace = { turn: number; round: number; ordinal: number }

/** The whole arguments and the whole result of a call. `result` null: it has none. */
export type WholeCall = CallPlace &
  CallArguments & { id: string; name: string; result: string | null }
