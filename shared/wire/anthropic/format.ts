// Anthropic's Messages.

import { isObject, jsonText } from '../../lib/json/json-object.ts'
import type {
  AgentFormat,
  BodyEdit,
  Json,
  ModelParts,
  RequestFormat,
  TranscriptFormat,
  WireFormat,
} from '../format.ts'
import { contentText, listIn, textIn, toolChoice } from '../request/content.ts'
import { answerOfMessages, isToolOfClient, piecesOfMessage, readAnthropic } from './history.ts'

const request: RequestFormat = {
  title: 'Messages',
  routes: [{ end: '/messages' }, { end: 'rawpredict', inside: '/anthropic/models/claude' }],
  withoutCalls: [
    ...['POST /messages/count_tokens', 'GET /models', 'GET /models/*', 'GET /api/hello'],
    ...['GET /files', 'GET /files/*', 'POST /files', 'DELETE /files/*'],
    ...['POST /event_logging/batch', 'POST /event_logging/*/batch'],
  ],
  history: 'messages',
  elsewhere: () => undefined,
  program: ['system', 'tools'],
  // A host can also write instructions between the messages.
  instructions: ({ system, messages }) => [
    ...textsOf(system),
    ...listIn(messages).flatMap(({ role, content }) => (role === 'system' ? textsOf(content) : [])),
  ],
  outputLimits: ({ max_tokens }) => [max_tokens],
  answers: () => 1,
  hasTools: ({ tools }) => listIn(tools).some(isToolOfClient),
  calls: ({ role, content }) =>
    role === 'assistant'
      ? listIn(content).flatMap(({ type, id, name }) =>
          type === 'tool_use' ? [[jsonText(id ?? ''), name] as const] : [],
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

function textsOf(content: unknown): unknown[] {
  return typeof content === 'string' ? [content] : listIn(content).map(({ text }) => text)
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

const agent: AgentFormat = {
  keyVariable: 'ANTHROPIC_API_KEY',
  accepts: {
    reasoningEffort: ['low', 'medium', 'high', 'xhigh', 'max'],
    serviceTier: ['auto', 'standard_only'],
    seed: false,
    endMark: false,
  },
  target: { sdk: 'anthropic', path: '/v1/messages' },
  check: ({ baseUrl = 'https://api.anthropic.com', apiKey, path }) => ({
    url: `${baseUrl}/v1/models/${path}`,
    headers: {
      'anthropic-version': '2023-06-01',
      ...(apiKey === '' ? {} : { 'x-api-key': apiKey }),
    },
  }),
  recording: {
    hasNamedEvents: true,
    isWhole: ({ type, content }) => type === 'message' && Array.isArray(content),
    lastTypes: new Set(['message_stop']),
    first: /"type":\s*"message_start"/,
    last: /"type":\s*"message_stop"/,
    any: /"type":\s*"(?:ping|content_block_\w+|message_\w+)"|^event: ?(?:ping|content_block_|message_)|^\s*\{[^{}]*"type":\s*"message"/m,
  },
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
  model: async (): Promise<ModelParts> => (await import('./model.ts')).anthropicModel,
  agent,
} satisfies WireFormat<'anthropic'>
