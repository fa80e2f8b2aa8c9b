// OpenAI's Chat Completions, also of compatible servers.

import { isObject } from '../../lib/json/json-object.ts'
import type { BodyEdit, Json, RequestFormat, WireFormat } from '../format.ts'
import { answerOfOpenai, openaiFile, readOpenai } from '../openai/history.ts'
import { listIn, textIn } from '../request/content.ts'
import { chatEvents, writeCompletion } from './answer.ts'
import { chatReader } from './reading.ts'

const request: RequestFormat = {
  path: '/chat/completions',
  history: 'messages',
  elsewhere: () => undefined,
  asksForSeveral: ({ n }) => typeof n === 'number' && n > 1,
  hasTools: ({ tools, functions }) => listIn(tools).length + listIn(functions).length > 0,
  isCall: ({ role, tool_calls: calls, function_call: call }) =>
    role === 'assistant' && (listIn(calls).length > 0 || (call !== undefined && call !== null)),
  isOfModel: ({ role }) => role === 'assistant',
  userText: ({ role, content }) => (role === 'user' ? textIn(content, ['text']) : undefined),
  edit: { addAdvice: inOwnMessage, noTools: 'none' },
}

/** A message of the operator's role at the end, in the role that the request uses. */
function inOwnMessage({ messages }: Json, text: string): BodyEdit[] {
  if (!Array.isArray(messages)) return []
  const isNew = messages.some((one) => isObject(one) && one.role === 'developer')
  const message = { role: isNew ? 'developer' : 'system', content: text }
  return [{ kind: 'append', path: ['messages'], value: message }]
}

export const openaiChat = {
  name: 'openai-chat',
  transcript: {
    read: readOpenai,
    answer: answerOfOpenai,
    answerName: 'the response of the API, with choices, or its message',
    lists: ['messages'],
    file: openaiFile,
  },
  request,
  answer: { reader: chatReader, write: writeCompletion },
  stream: { isNamed: false, events: chatEvents },
} satisfies WireFormat<'openai-chat'>
