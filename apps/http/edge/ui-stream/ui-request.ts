// The body of a request of the AI SDK's chat transport. Only the newest message of the user, the answers
// to approvals and the outputs of tools that the page runs count. Texts of the assistant are not read.

import { isObject } from '../../../../shared/lib/json/json-object.ts'
import { bad, HttpError } from '../../http-error.ts'
import { textAt } from '../../request-body.ts'
import type { CallAnswer } from '../chat/call-results.ts'
import {
  type Answer,
  type ChatRequest,
  listAt,
  objectAt,
  type UserMessage,
} from '../chat/chat-request.ts'
import { messageOfContent, textOfContent } from '../chat/request-message.ts'
import type { Exchange } from '../chat/resent-history.ts'
import { guardPrefix } from './ui-fold.ts'

/** `key`: the client's id of the new message; undefined: that of the page. Throws 400. */
export function uiRequestIn(body: Record<string, unknown>, key: string | undefined): ChatRequest {
  const conversation = textAt(body.id, 'id')
  const messages = listAt(body.messages, 'messages').map((one, at) => {
    const message = objectAt(one, `messages[${at}]`)
    const { role } = message
    if (role !== 'user' && role !== 'assistant')
      throw new HttpError(
        400,
        'chat.role',
        `messages[${at}].role must be user or assistant: the agent has its own instructions`,
      )
    const parts = listAt(message.parts, `messages[${at}].parts`)
    return { role, parts, id: message.id, where: `messages[${at}]` }
  })
  const last = messages.at(-1)
  if (last === undefined) throw bad('messages must not be empty')
  const users = messages.filter(({ role }) => role === 'user')
  const isAgain = body.trigger === 'regenerate-message'
  const results = messages.flatMap(({ role, parts, where }) =>
    role === 'user' ? [] : parts.flatMap((part, at) => resultIn(part, `${where}.parts[${at}]`)),
  )
  const replaced = isAgain && typeof body.messageId === 'string' ? body.messageId : undefined
  const again = { isAgain, edits: key === undefined, ...(replaced !== undefined && { replaced }) }
  const given = { conversation, results, abandoned: [], ...again }
  if (last.role === 'user') {
    const newest = users.pop()
    const message = newest && userMessage(newest, key)
    return { ...given, earlier: textsOf(users), message, answers: [] }
  }
  const answers = last.parts.flatMap((part, at) => answerIn(part, `${last.where}.parts[${at}]`))
  if (answers.length === 0 && results.length === 0)
    throw bad(
      'the last message must be one of the user, or have an answered approval or the output of a tool',
    )
  return { ...given, earlier: textsOf(users), message: undefined, answers }
}

type SentMessage = { id: unknown; parts: unknown[]; where: string }

function textsOf(users: readonly SentMessage[]): Exchange[] {
  return users.map(({ parts, where }) => ({ text: textOfContent(parts, `${where}.parts`) }))
}

/** Throws 400 for parts that no message has. */
function userMessage({ id, parts, where }: SentMessage, key: string | undefined): UserMessage {
  return { id: key ?? textAt(id, `${where}.id`), ...messageOfContent(parts, `${where}.parts`) }
}

/** Approvals that a guard answered for itself are not the page's. */
function answerIn(part: unknown, where: string): Answer[] {
  if (!isObject(part) || part.state !== 'approval-responded') return []
  const { id: given, approved, reason } = objectAt(part.approval, `${where}.approval`)
  const id = textAt(given, `${where}.approval.id`)
  if (id.startsWith(guardPrefix)) return []
  if (typeof approved !== 'boolean') throw bad(`${where}.approval.approved must be true or false`)
  return [
    { id, answer: approved ? 'allow' : 'deny', ...(typeof reason === 'string' && { reason }) },
  ]
}

/** The output of a tool that the page ran. Weir has those of the others. */
function resultIn(part: unknown, where: string): CallAnswer[] {
  if (!isObject(part) || part.providerExecuted === true) return []
  const { toolCallId, state, output, errorText } = part
  if (state !== 'output-available' && state !== 'output-error') return []
  const callId = textAt(toolCallId, `${where}.toolCallId`)
  if (state === 'output-error')
    return [{ callId, text: textAt(errorText, `${where}.errorText`), isError: true }]
  return [{ callId, text: typeof output === 'string' ? output : (JSON.stringify(output) ?? '') }]
}
