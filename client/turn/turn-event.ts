// The events of a turn, as programs, servers and the command line see them. docs/reference/events.md
// describes each, and test/client/turn/turn-events.unit.test.ts holds the JSON of each kind.
// A version only gains kinds and fields. A change of a field's meaning is a new version.
// A call has `name`, `arguments` and `result` (the values), `rawArguments` and `rawResult`
// (the texts), in every event.

import type { CallArguments, WithArguments } from '../../shared/contract/call/call-arguments.ts'
import type { ConversationId, RoundId } from '../../shared/contract/ids.ts'
import type {
  AnsweredCall,
  MessageOf,
  PendingCall,
  ResultStatus,
  TurnFinished,
} from '../../shared/contract/messages.ts'
import type { CallValue } from '../../shared/view/messages/call-result.ts'
import type { CallTypes } from '../define/call-types.ts'
import type { DefinedAgent } from '../define/define-agent.ts'

/** The version of the events. Each carries it as `v`. */
export const turnEventVersion = 2

/**
 * `position`: opaque; the place after this event. Reading `after` it continues with the next event,
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

/** A call that fits the schema of its tool. The arguments are null if they are cut. */
type JudgedCall<Call extends CallTypes> = CallTypes extends Call
  ? { name: string } & CallArguments
  : Call extends CallTypes
    ? { name: Call['name']; arguments: Call['arguments'] | null; rawArguments: string }
    : never

/** Calls of the round wait for a person. */
export type ApprovalPendingEvent<Call extends CallTypes = CallTypes> = Omit<
  MessageOf<'approval-pending'>,
  'calls'
> & { calls: (Omit<PendingCall, 'name' | 'arguments'> & JudgedCall<Call>)[] }

type StartedEvent<Type extends 'tool-started' | 'call-offered', Call extends CallTypes> = Omit<
  MessageOf<Type>,
  'name'
> &
  JudgedCall<Call>

/** The end of a call that did not end with `ok` has a text for the model as its result. */
type EndedCall<Call extends CallTypes> = CallTypes extends Call
  ? { name: string; status: ResultStatus } & CallValue
  :
      | (Call extends CallTypes
          ? { name: Call['name']; status: 'ok'; result: Call['result']; rawResult: string }
          : never)
      | {
          name: Call['name']
          status: Exclude<ResultStatus, 'ok'>
          result: string
          rawResult: string
        }

type CallFinishedEvent<Call extends CallTypes> = Omit<
  MessageOf<'call-finished'>,
  'name' | 'status' | 'result'
> &
  EndedCall<Call>

/** An event without its version and position. */
export type TurnEventBody<Call extends CallTypes = CallTypes> =
  | TurnWaiting
  | MessageOf<'turn-started' | 'round-started'>
  | TextDelta
  | ReasoningDelta
  | TextReset
  | MessageOf<'model-retry' | 'model-waiting' | 'budget-reached'>
  | ModelAnsweredEvent
  | (MessageOf<'call-denied'> & CallArguments)
  | ApprovalPendingEvent<Call>
  | MessageOf<'intervention-raised' | 'calls-waiting' | 'guard-verdict-given' | 'approval-decided'>
  | StartedEvent<'tool-started', Call>
  | StartedEvent<'call-offered', Call>
  | CallFinishedEvent<Call>
  | TurnFinished

/**
 * All events of a turn, distinguished by `type`. shared/contract/messages.ts describes the fields
 * of those that are records of the log. `Agent`: the agent of the turn, `typeof agent`. Its tools are
 * the names, arguments and results of the calls that fit their schemas. Calls of `model-answered` and
 * `call-denied` are not judged, so they have the general types.
 */
export type TurnEvent<Agent = unknown> = EventOf<
  Agent extends DefinedAgent<never, infer Call> ? Call : CallTypes
>

/** The event of a turn with these calls. */
export type EventOf<Call extends CallTypes> = TurnEventBody<Call> & Placed

/** The place of a call in its conversation, as its events have it. */
export type CallPlace = { turn: number; round: number; ordinal: number }

/** The whole arguments and the whole result of a call. `result` null: it has none. */
export type WholeCall = CallPlace &
  CallArguments & { id: string; name: string } & (CallValue | { result: null; rawResult: null })
