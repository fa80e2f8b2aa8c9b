// Anthropic's Messages.

import { isObject } from '../../lib/json/json-object.ts'
import type { BodyEdit, Json, RequestFormat, TranscriptFormat, WireFormat } from '../format.ts'
import { listIn, textIn } from '../request/content.ts'
import { messageEvents, writeMessage } from './answer.ts'
import { answerOfMessages, isToolOfClient, piecesOfMessage, readAnthropic } from './history.ts'
import { messageReader } from './reading.ts'

const request: RequestFormat = {
  path: '/messages',
  history: 'messages',
  elsewhere: () => undefined,
  asksForSeveral: () => false,
  hasTools: ({ tools }) => listIn(tools).some(isToolOfClient),
  isCall: ({ role, content }) =>
    role === 'assistant' && listIn(content).some(({ type }) => type === 'tool_use'),
  isOfModel: ({ role }) => role === 'assistant',
  userText: ({ role, content }) =>
    role !== 'user' || listIn(content).some(({ type }) => type === 'tool_result')
      ? undefined
      : textIn(content, ['text']),
  edit: { addAdvice: inLastUserMessage, noTools: { type: 'none' } },
}

/** A text block at the end of the last message of the user. */
function inLastUserMessage({ messages }: Json, text: string): BodyEdit[] {
  if (!Array.isArray(messages)) return []
  const at = messages.findLastIndex((one) => isObject(one) && one.role === 'user')
  if (at === -1) return []
  const path = ['messages', at, 'content']
  const { content } = messages[at]
  const block = { type: 'text', text }
  return typeof content === 'string'
    ? [{ kind: 'set', path, value: [{ type: 'text', text: content }, block] }]
    : [{ kind: 'append', path, value: block }]
}

export const anthropicMessages = {
  read: readAnthropic,
  answer: answerOfMessages,
  answerName: 'the message of the API, with content',
  lists: ['messages', 'input'],
  file: { name: 'anthropic', item: piecesOfMessage, prefills: true },
} satisfies TranscriptFormat

export const anthropic = {
  name: 'anthropic',
  transcript: anthropicMessages,
  request,
  answer: { reader: messageReader, write: writeMessage },
  stream: { isNamed: true, events: messageEvents },
} satisfies WireFormat<'anthropic'>
