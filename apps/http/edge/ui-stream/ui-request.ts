// The body of a request of the AI SDK's chat transport. Only the newest message of the user and the
// answers to approvals count. Tool outputs and texts of the assistant are not read.

import { isObject } from '../../../../shared/lib/json/json-object.ts'
import { HttpError } from '../../http-error.ts'
import {
  type Answer,
  type ChatRequest,
  listAt,
  objectAt,
  textAt,
  type UserText,
} from '../chat-request.ts'
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
  if (last === undefined) throw new HttpError(400, 'http.body', 'messages must not be empty')
  const users = messages.filter(({ role }) => role === 'user').map(userText)
  const isAgain = body.trigger === 'regenerate-message'
  if (last.role === 'user') {
    const newest = users.pop()
    const message = newest && { ...newest, id: key ?? newest.id }
    return { conversation, earlier: textsOf(users), message, answers: [], abandoned: [], isAgain }
  }
  const answers = last.parts.flatMap((part, at) => answerIn(part, `${last.where}.parts[${at}]`))
  if (answers.length === 0)
    throw new HttpError(
      400,
      'http.body',
      'the last message must be one of the user, or have an answered approval',
    )
  const earlier = textsOf(users)
  return { conversation, earlier, message: undefined, answers, abandoned: [], isAgain }
}

function textsOf(users: readonly UserText[]): string[] {
  return users.map(({ text }) => text)
}

/** Throws 400 for parts that are no text. */
function userText({ id, parts, where }: { id: unknown; parts: unknown[]; where: string }) {
  const texts = parts.map((one, at) => {
    const place = `${where}.parts[${at}]`
    const part = objectAt(one, place)
    if (part.type === 'text') return textAt(part.text, `${place}.text`)
    throw new HttpError(400, 'http.body', `${place}: a message has parts of the type text only`)
  })
  return { id: textAt(id, `${where}.id`), text: texts.join('\n') }
}

/** Approvals that a guard answered for itself are not the page's. */
function answerIn(part: unknown, where: string): Answer[] {
  if (!isObject(part) || part.state !== 'approval-responded') return []
  const { id: given, approved, reason } = objectAt(part.approval, `${where}.approval`)
  const id = textAt(given, `${where}.approval.id`)
  if (id.startsWith(guardPrefix)) return []
  if (typeof approved !== 'boolean')
    throw new HttpError(400, 'http.body', `${where}.approval.approved must be true or false`)
  return [{ id, approve: approved, ...(typeof reason === 'string' && { reason }) }]
}
