// The parts of a request that chat protocols with a resent history share. All of it is hostile: the
// log is the truth, and only the new message, the answers to approvals and the results of calls that
// the client runs count.

import type { ConversationTurn } from '../../../../client/weir.ts'
import { limits } from '../../../../shared/contract/limits.ts'
import { isObject } from '../../../../shared/lib/json/json-object.ts'
import { bad, HttpError } from '../../http-error.ts'
import type { Principal } from '../access/principal.ts'
import { type Decision, decideFor, waitingFor } from '../approval-decisions.ts'
import type { EdgeContext } from '../edge-context.ts'
import type { CallAnswer } from './call-results.ts'
import type { MessageContent } from './request-message.ts'
import { type Exchange, forkError, isFork } from './resent-history.ts'

/** A message of the user. `id`: the client's. */
export type UserMessage = MessageContent & { id: string }

/** A person's answer to an approval. `values`: for a question, as JSON text. */
export type Answer = Pick<Decision, 'id' | 'answer' | 'reason' | 'values'>

/**
 * `conversation`: as the principal names it. `earlier`: the messages of the user before `message`.
 * Without a message the request only answers. `results`: those of all calls in the sent history.
 * `abandoned`: approvals that the client gives up, with their turn. `isAgain`: the client wants another answer to the same message.
 */
export type ChatRequest = {
  conversation: string
  earlier: Exchange[]
  message: UserMessage | undefined
  answers: Answer[]
  results: CallAnswer[]
  abandoned: string[]
  isAgain: boolean
}

/**
 * Throws 409 for a history that contradicts the turns of the log. Returns the turn of the message,
 * if the log has it. `turns`: newest first.
 */
export function repeatedTurn(
  { earlier, message }: Pick<ChatRequest, 'earlier' | 'message'>,
  turns: readonly ConversationTurn[],
): ConversationTurn | undefined {
  const at = turns.findIndex(({ messageId }) => messageId === message?.id)
  const repeated = turns[at]
  if (repeated !== undefined && repeated.text !== message?.text)
    throw forkError('a message that the log has cannot be changed')
  if (isFork(earlier, turns.slice(at + 1)))
    throw forkError('the sent history is not that of the log')
  return repeated
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
  if (count <= limits.edgeAnswersMax) return
  const most = `at most ${limits.edgeAnswersMax} are allowed`
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
