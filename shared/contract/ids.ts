// The ids of a conversation and of the things in it: turn, round, call, try, attempt.
// An id is a type of fields, so a record with these fields is the id. Pass the record itself.
// Two kinds of text ids do not mix: the compiler refuses a message id as a conversation.
// The kind is optional in the type, so a literal or a decoded text needs no cast.

import { WeirError } from '../lib/errors.ts'
import { limits } from './limits.ts'

/** The conversation of an agent that a call uses names the calls on the way. Deeper calls fail. */
export const callConversationIdBytesMax = 1024

/** Only in types: no value has this property. */
declare const kind: unique symbol
type TextId<Kind extends string> = string & { readonly [kind]?: Kind }

export type ConversationId = TextId<'conversation'>

/** The client's own id of a message. */
export type MessageId = TextId<'message'>

/** A user's message, as its client names it. */
export type SentMessage = { conversation: ConversationId; messageId: MessageId }

/** `turn`: the inbox offset of the record that opened it. */
export type TurnId = { conversation: ConversationId; turn: number }

/** `round`: in the turn, from 1. In the history 0 is the user's message. */
export type RoundId = TurnId & { round: number }

/** `ordinal`: in the round, from 0. */
export type CallId = RoundId & { ordinal: number }

/** `try`: of the call, from 1. */
export type TryId = CallId & { try: number }

/** `attempt`: a random id of one request to the provider. */
export type AttemptId = RoundId & { attempt: string }

/** Throws `message.invalid` for a text that the conversation would refuse. */
export function parseConversationId(text: string): ConversationId {
  return parsed(text, conversationIdFault(text))
}

/** Throws `message.invalid` for a text that the conversation would refuse. */
export function parseMessageId(text: string): MessageId {
  return parsed(text, messageIdFault(text))
}

/** The reason why no conversation can have this id. Undefined: it can. */
export function conversationIdFault(text: string): string | undefined {
  const bytesMax = isConversationOfCall(`${text}`)
    ? callConversationIdBytesMax
    : limits.conversationIdBytesMax
  return faultOf("the conversation's id", text, bytesMax)
}

/** The reason why no message can have this id. Undefined: it can. */
export function messageIdFault(text: string): string | undefined {
  return faultOf('the message id', text, limits.messageIdBytesMax)
}

function faultOf(name: string, text: string, bytesMax: number): string | undefined {
  if (typeof text !== 'string') return `${name} is no text` // of a program in JavaScript
  const bytes = Buffer.byteLength(text)
  if (bytes < 1 || bytes > bytesMax)
    return `${name} has ${bytes} bytes; it must have 1 to ${bytesMax}`
  return text.isWellFormed() ? undefined : `${name} ${halfPair}`
}

/** The fault of a text that is not well-formed, without its subject. */
export const halfPair =
  'has half of a surrogate pair, which UTF-8 cannot encode: cut it between characters'

function parsed(text: string, fault: string | undefined): string {
  if (fault !== undefined) throw new WeirError('message.invalid', fault)
  return text
}

// The keys are JSON, so no conversation's id can look like a prefix of another. Logs hold keys: a
// change would orphan their units and history entries.

/** `["c",3]` */
export function turnKey({ conversation, turn }: TurnId): string {
  return JSON.stringify([conversation, turn])
}

/** `["c",3,1]` */
export function roundKey({ conversation, turn, round }: RoundId): string {
  return JSON.stringify([conversation, turn, round])
}

/** `["c",3,1,0]` */
export function callKey({ conversation, turn, round, ordinal }: CallId): string {
  return JSON.stringify([conversation, turn, round, ordinal])
}

/** `["c",3,1,"input",2]`; that of the round for `input` 0, which stands for its approvals. */
export function inputKey(of: RoundId & { input: number }): string {
  const { conversation, turn, round, input } = of
  return input === 0 ? roundKey(of) : JSON.stringify([conversation, turn, round, 'input', input])
}

/** Such ids have the calls that led to them, and no client may name one. */
export const ofCalls = 'call/'

export function isConversationOfCall(conversation: ConversationId): boolean {
  return conversation.startsWith(ofCalls)
}

/** The call of such a conversation. Undefined: it is none, or its id is a hash. */
export function callOfConversation(id: ConversationId): CallId | undefined {
  const [, conversation, turn, round, ordinal] =
    /^call\/(.+)\/(\d{1,15})\/(\d{1,15})\/(\d{1,15})(?:~\d{1,15})?$/s.exec(id) ?? []
  if (conversation === undefined) return undefined
  return { conversation, turn: Number(turn), round: Number(round), ordinal: Number(ordinal) }
}

/**
 * The conversation and those whose calls led to it, the root last. A hash as id ends the list if
 * `callers` does not have it.
 */
export function withCallers(
  id: ConversationId,
  callers?: ReadonlyMap<ConversationId, ConversationId>,
): ConversationId[] {
  const caller = callOfConversation(id)?.conversation ?? callers?.get(id)
  return caller === undefined ? [id] : [id, ...withCallers(caller, callers)]
}

/** The conversation whose calls led to this one, or itself. */
export function rootOf(id: ConversationId): ConversationId {
  return withCallers(id).at(-1) ?? id
}

export function callOfKey(key: string): CallId {
  const [conversation, turn, round, ordinal] = JSON.parse(key) as [string, number, number, number]
  return { conversation, turn, round, ordinal }
}

/** The name of a call within its turn. */
export function callInTurn({ round, ordinal }: Pick<CallId, 'round' | 'ordinal'>): string {
  return `${round}/${ordinal}`
}

export function isSameRound(a: RoundId, b: RoundId): boolean {
  return a.conversation === b.conversation && a.turn === b.turn && a.round === b.round
}

export function isSameCall(a: CallId, b: CallId): boolean {
  return a.ordinal === b.ordinal && isSameRound(a, b)
}

/** The turn of a message. Undefined: it belongs to none, or opens one. */
export function turnOfMessage(message: object): TurnId | undefined {
  const { conversation, turn } = message as Partial<Record<keyof TurnId, unknown>>
  return typeof conversation === 'string' && typeof turn === 'number'
    ? { conversation, turn }
    : undefined
}

// Only the fields of the id: for a new record that must not carry the rest.

export function roundIdOf({ conversation, turn, round }: RoundId): RoundId {
  return { conversation, turn, round }
}

export function tryIdOf({ conversation, turn, round, ordinal, try: number }: TryId): TryId {
  return { conversation, turn, round, ordinal, try: number }
}
