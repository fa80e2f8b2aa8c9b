// The input of an AG-UI run. Only the newest message of the user, the answers to interrupts and the
// results of calls that the client runs count: the log has the history. The other messages are read
// to send them back.

import { bad, HttpError } from '../../http-error.ts'
import { textAt } from '../../request-body.ts'
import type { CallAnswer } from '../chat/call-results.ts'
import { type Answer, type ChatRequest, listAt, objectAt } from '../chat/chat-request.ts'
import { messageOfContent, textOfContent, toolNames } from '../chat/request-message.ts'
import type { AgMessage } from './ag-event.ts'
import type { AgRun } from './ag-fold.ts'

/** `tools`: the names of those that the client declares. */
export type AgRequest = { run: AgRun; request: ChatRequest; tools: string[] }

/** Roles of messages that agents and clients write. */
const foreign: ReadonlySet<unknown> = new Set(['assistant', 'tool', 'reasoning', 'activity'])

/** `key`: the client's id of the new message; undefined: that of the run. Throws 400. */
export function agRequestIn(body: Record<string, unknown>, key: string | undefined): AgRequest {
  const threadId = textAt(body.threadId, 'threadId')
  const runId = textAt(body.runId, 'runId')
  if (body.context !== undefined && listAt(body.context, 'context').length > 0)
    throw bad('context must be empty: the agent has its own')
  const messages = listAt(body.messages, 'messages').map((one, at) => {
    const where = `messages[${at}]`
    const message = objectAt(one, where)
    const { role } = message
    if (role === 'user')
      return { message, text: textOfContent(message.content, `${where}.content`) }
    if (foreign.has(role)) return { message, text: undefined }
    throw new HttpError(
      400,
      'chat.role',
      `${where}.role must be user, assistant, tool, reasoning or activity: the agent has its own instructions`,
    )
  })
  const resume = body.resume === undefined ? [] : listAt(body.resume, 'resume').map(resumeIn)
  const texts = messages.flatMap(({ text }) => (text === undefined ? [] : [{ text }]))
  const last = messages.at(-1)
  const newest =
    last?.text === undefined
      ? undefined
      : messageOfContent(last.message.content, `messages[${messages.length - 1}].content`)
  if (newest === undefined && resume.length === 0 && last?.message.role !== 'tool')
    throw bad(
      'the last message must be one of the user or the result of a call, or resume must answer the interrupts',
    )
  const results = messages.flatMap(({ message }, at) =>
    message.role === 'tool' ? [resultIn(message, `messages[${at}]`)] : [],
  )
  return {
    tools: toolNames(body.tools, ({ name }) => name),
    run: { threadId, runId, messages: messages.flatMap(({ message }) => sentBack(message)) },
    request: {
      conversation: threadId,
      earlier: newest === undefined ? texts : texts.slice(0, -1),
      message: newest === undefined ? undefined : { id: key ?? runId, ...newest },
      results,
      answers: resume.filter((one) => typeof one !== 'string'),
      abandoned: resume.filter((one) => typeof one === 'string'),
      isAgain: false,
      edits: false,
    },
  }
}

/** A text: the interrupt with this id is abandoned. Throws 400. */
function resumeIn(given: unknown, at: number): Answer | string {
  const where = `resume[${at}]`
  const { interruptId, status, payload } = objectAt(given, where)
  const id = textAt(interruptId, `${where}.interruptId`)
  if (status === 'cancelled') return id
  if (status !== 'resolved') throw bad(`${where}.status must be resolved or cancelled`)
  const { approved, reason, values } = objectAt(payload, `${where}.payload`)
  if (typeof approved !== 'boolean') throw bad(`${where}.payload.approved must be true or false`)
  return {
    id,
    answer: approved ? 'allow' : 'deny',
    ...(typeof reason === 'string' && { reason }),
    ...(values !== undefined && { values: JSON.stringify(values) }),
  }
}

/** `error`: the client's text of a failure. */
function resultIn(
  { toolCallId, content, error }: Record<string, unknown>,
  where: string,
): CallAnswer {
  const callId = textAt(toolCallId, `${where}.toolCallId`)
  if (typeof error === 'string') return { callId, text: error, isError: true }
  return { callId, text: textOfContent(content, `${where}.content`) }
}

/** The message, if a snapshot of all messages needs it: clients keep those of the other roles. */
function sentBack(message: Record<string, unknown>): AgMessage[] {
  const { role, id } = message
  const isKept = role === 'user' || role === 'assistant' || role === 'tool'
  return isKept && typeof id === 'string' ? [message as AgMessage] : []
}
