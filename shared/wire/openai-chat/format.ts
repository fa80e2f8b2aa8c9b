// OpenAI's Chat Completions, also of compatible servers.

import { isObject, jsonText } from '../../lib/json/json-object.ts'
import type {
  AgentFormat,
  BodyEdit,
  CallWords,
  Json,
  ModelParts,
  RequestFormat,
  WireFormat,
} from '../format.ts'
import { openaiApi, openaiEfforts, openaiTiers } from '../openai/api.ts'
import { answerOfOpenai, openaiFile, readOpenai } from '../openai/history.ts'
import { contentText, listIn, textIn, toolChoice } from '../request/content.ts'

const request: RequestFormat = {
  title: 'Chat Completions',
  routes: [{ end: '/chat/completions' }],
  withoutCalls: [
    ...['GET /', 'GET /models', 'GET /models/*', 'GET /models/*/*', 'GET /model/info'],
    ...['POST /embeddings', 'POST /moderations', 'POST /rerank', 'POST /tokenize'],
    ...['POST /images/generations', 'POST /images/edits', 'POST /images/variations'],
    ...['POST /audio/transcriptions', 'POST /audio/translations', 'POST /audio/speech'],
    ...['GET /files', 'GET /files/*', 'POST /files', 'DELETE /files/*', 'POST /uploads'],
    ...['POST /uploads/*/parts', 'POST /uploads/*/complete', 'POST /uploads/*/cancel'],
    ...['GET /providers', 'GET /credits', 'GET /key', 'GET /auth/key', 'GET /health'],
    ...['GET /version', 'GET /props'],
    ...['GET /api/tags', 'GET /api/ps', 'POST /api/show', 'POST /api/embed', 'POST /traces'],
  ],
  history: 'messages',
  elsewhere: () => undefined,
  program: ['tools', 'functions'],
  outputLimits: ({ max_tokens, max_completion_tokens }) => [max_tokens, max_completion_tokens],
  answers: ({ n }) => n,
  hasTools: ({ tools, functions }) => listIn(tools).length + listIn(functions).length > 0,
  calls: ({ role, tool_calls: calls, function_call: older }) =>
    role === 'assistant' ? [...listIn(calls), ...[older].filter(isObject)].map(wordsOf) : [],
  isOfModel: ({ role }) => role === 'assistant',
  userText: ({ role, content }) => (role === 'user' ? textIn(content, ['text']) : undefined),
  modelText: contentText,
  edit: { addAdvice: inOwnMessage, withoutCalls: toolChoice('none') },
}

function wordsOf({ id, name, function: named }: Json): CallWords {
  return [jsonText(id ?? ''), isObject(named) ? named.name : name]
}

/** A message of the operator's role at the end, in the role that the request uses. */
function inOwnMessage({ messages }: Json, text: string): BodyEdit[] {
  if (!Array.isArray(messages)) return []
  const isNew = messages.some((one) => isObject(one) && one.role === 'developer')
  const message = { role: isNew ? 'developer' : 'system', content: text }
  return [{ kind: 'append', path: ['messages'], value: message }]
}

const agent: AgentFormat = {
  ...openaiApi('/chat/completions'),
  accepts: { reasoningEffort: openaiEfforts, serviceTier: openaiTiers, seed: true, endMark: true },
  recording: {
    hasNamedEvents: false,
    isWhole: ({ object, choices }) =>
      object === 'chat.completion' || listIn(choices).some(({ message }) => isObject(message)),
    lastTypes: new Set(),
    first: /"choices":/,
    last: /^data: ?\[DONE\]/m,
    any: /"choices":/,
  },
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
  model: async (): Promise<ModelParts> => (await import('./model.ts')).openaiChatModel,
  agent,
} satisfies WireFormat<'openai-chat'>
