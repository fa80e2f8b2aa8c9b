// The parts of a request that chat protocols with a resent history share. All of it is hostile: the
// log is the truth, and only the new message, the answers to approvals and the results of calls that
// the client runs count.

import { hash } from 'node:crypto'
import type { ConversationTurn } from '../../../../client/weir.ts'
import { limits } from '../../../../shared/contract/limits.ts'
import { isObject } from '../../../../shared/lib/json/json-object.ts'
import { cutToBytes } from '../../../../shared/lib/text-cut.ts'
import { bad, HttpError } from '../../http-error.ts'
import type { Principal } from '../access/principal.ts'
import { type Decision, decideFor, waitingFor } from '../approval-decisions.ts'
import type { EdgeContext } from '../edge-context.ts'
import type { CallAnswer } from './call-results.ts'
import { edgeAnswersMax } from './call-results.ts'
import type { MessageContent } from './request-message.ts'
import { type Exchange, forkError, isFork, isSameText } from './resent-history.ts'

/** A message of the user. `id`: the client's. */
export type UserMessage = MessageContent & { id: string }

/** A person's answer to an approval. `values`: for a question, as JSON text. */
export type Answer = Pick<Decision, 'id' | 'answer' | 'reason' | 'values'>

/**
 * `conversation`: as the principal names it. `earlier`: the messages of the user before `message`.
 * Without a message the request only answers. `results`: those of all calls in the sent history.
 * `abandoned`: approvals that the client gives up, with their turn. `isAgain`: the
 * client wants another answer to the same message; `replaced`: its id of the answer before.
 * `edits`: an edited message keeps its id.
 */
export type ChatRequest = {
  conversation: string
  earlier: Exchange[]
  message: UserMessage | undefined
  answers: Answer[]
  results: CallAnswer[]
  abandoned: string[]
  isAgain: boolean
  replaced?: string
  edits: boolean
}

/**
 * The place of a message in the conversation. `repeated`: the log has it. Otherwise the message is
 * new: `id` is the id in the log, and `afterTurn` the turn before the replaced turns.
 */
export type MessagePlace =
  | { kind: 'repeated'; turn: ConversationTurn }
  | { kind: 'new'; id: string; afterTurn?: number }

/**
 * Throws 409 for a history that contradicts the turns of the log. `turns`: newest first. An edited
 * message and a regenerated answer keep the id of the message, so the log has them under another one.
 * It names the text and the replaced answer: a repeated request finds the same message.
 */
export function placeOf(
  { earlier, message, isAgain, replaced, edits }: ChatRequest & { message: UserMessage },
  turns: readonly ConversationTurn[],
): MessagePlace {
  const at = turns.findIndex(({ messageId }) => isVersion(messageId, message.id))
  const known = turns[at]
  if (known === undefined) return newPlace(message.id, earlier, turns)
  if (known.text !== message.text && !edits)
    throw forkError('a message that the log has cannot be changed')
  const before = turns.slice(at + 1)
  if (isFork(earlier, before)) throw forkError('the sent history is not that of the log')
  const afterTurn = before[0]?.turn ?? -1
  if (known.text !== message.text)
    return { kind: 'new', id: versionOf(message, `turn-${known.turn}`), afterTurn }
  const id = versionOf(message, replaced ?? `turn-${known.turn}`)
  if (!isAgain || known.messageId === id) return { kind: 'repeated', turn: known }
  return { kind: 'new', id, afterTurn }
}

/** A new message may follow an earlier turn, if the client removed the later ones. */
function newPlace(
  id: string,
  earlier: readonly Exchange[],
  turns: readonly ConversationTurn[],
): MessagePlace {
  if (!isFork(earlier, turns)) return { kind: 'new', id }
  const last = earlier.at(-1)
  const at = turns.findIndex((turn, place) => {
    const isLast = last !== undefined && isSameText(last, turn)
    return isLast && !isFork(earlier, turns.slice(place))
  })
  const afterTurn = turns[at]?.turn
  if (afterTurn !== undefined) return { kind: 'new', id, afterTurn }
  throw forkError('the sent history is not that of the log')
}

/** `replaced`: the answer that this version of the message replaces. */
function versionOf({ id, text }: UserMessage, replaced: string): string {
  const digest = hash('sha256', JSON.stringify([text, replaced])).slice(0, 16)
  return `${cutToBytes(id, limits.messageIdBytesMax - digest.length - 1)}~${digest}`
}

function isVersion(messageId: string, id: string): boolean {
  const stem = cutToBytes(id, limits.messageIdBytesMax - 17)
  return (
    messageId === id || (messageId.startsWith(`${stem}~`) && messageId.length === stem.length + 17)
  )
}

/**
 * Decides the calls that still wait. An answer to a call that was decided before, or waited too
 * long, changes nothing: the events of the turn show the decision that counts. `isAbandoned`: a call
 * still waits that the client gives up. Throws 403, and 404 for a call of another conversation.
 */
export async function decideAnswers(
  context: EdgeContext,
  principal: Principal,
  { conversation, answers, abandoned }: Pick<ChatRequest, 'conversation' | 'answers' | 'abandoned'>,
): Promise<{ isAbandoned: boolean }> {
  const ids = [...answers.map(({ id }) => id), ...abandoned]
  if (ids.length === 0) return { isAbandoned: false }
  assertFewAnswers(ids.length)
  const waiting = (await waitingFor(context, principal)).filter(({ id }) => ids.includes(id))
  if (waiting.some((call) => call.conversation !== conversation))
    throw new HttpError(404, 'approval.unknown', 'no call of this conversation has this approval')
  for (const answer of answers) {
    const call = waiting.find(({ id }) => id === answer.id)
    if (call === undefined) continue
    await decideFor(context, principal, { ...answer, hash: call.hash })
  }
  return { isAbandoned: waiting.some(({ id }) => abandoned.includes(id)) }
}

/**
 * Decides calls of one turn. The same answer as one that counts is a repeated request. Throws 403, 404
 * for a call that is none of the turn's, and 409 if another decision counts. `of`: as in the log.
 */
export async function decideOfTurn(
  context: EdgeContext,
  principal: Principal,
  { of, answers }: { of: NonNullable<Decision['of']>; answers: readonly Answer[] },
): Promise<void> {
  assertFewAnswers(answers.length)
  for (const answer of answers) {
    const { outcome, text } = await decideFor(context, principal, { ...answer, of })
    if (outcome !== answer.answer) throw new HttpError(409, 'approval.decided', text)
  }
}

/** Throws 400. */
function assertFewAnswers(count: number): void {
  if (count <= edgeAnswersMax) return
  const most = `at most ${edgeAnswersMax} are allowed`
  throw bad(`the request answers ${count} approvals: ${most}`)
}

/** Throws 400. `where`: the place in the body. */
export function objectAt(value: unknown, where: string): Record<string, unknown> {
  if (isObject(value)) return value
  throw bad(`${where} must be an object`)
}

/** Throws 400. */
export function listAt(value: unknown, where: string): unknown[] {
  if (Array.isArray(value)) return value
  throw bad(`${where} must be a list`)
}
