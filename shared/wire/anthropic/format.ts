// Anthropic's Messages.

import { isObject } from '../../lib/json/json-object.ts'
import { answerReader } from '../answer-reader.ts'
import type { BodyEdit, Json, RequestFormat, TranscriptFormat, WireFormat } from '../format.ts'
import { contentText, listIn, textIn, toolChoice } from '../request/content.ts'
import { messageEvents, writeMessage } from './answer.ts'
import { messageAnswers } from './events.ts'
import { answerOfMessages, isToolOfClient, piecesOfMessage, readAnthropic } from './history.ts'
import { messagesStrict } from './strict.ts'

const request: RequestFormat = {
  title: 'Messages',
  routes: [{ end: '/messages' }],
  history: 'messages',
  elsewhere: () => undefined,
  program: ['system', 'tools'],
  outputLimits: ({ max_tokens }) => [max_tokens],
  answers: () => 1,
  hasTools: ({ tools }) => listIn(tools).some(isToolOfClient),
  calls: ({ role, content }) =>
    role === 'assistant'
      ? listIn(content).flatMap(({ type, id, name }) =>
          type === 'tool_use' ? [[`${id ?? ''}`, name] as const] : [],
        )
      : [],
  isOfModel: ({ role }) => role === 'assistant',
  userText: ({ role, content }) =>
    role !== 'user' || listIn(content).some(({ type }) => type === 'tool_result')
      ? undefined
      : textIn(content, ['text']),
  modelText: contentText,
  edit: { addAdvice: inLastUserMessage, withoutCalls: toolChoice({ type: 'none' }) },
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
  answer: {
    reader: answerReader(messageAnswers),
    write: writeMessage,
    usage: 'usage',
    messages: (body) => [body],
  },
  stream: { isNamed: true, events: messageEvents },
  strict: messagesStrict,
} satisfies WireFormat<'anthropic'>
