// Ollama's own API, `/api/chat`. Its stream is a JSON object a line. Calls are whole, and older servers
// send none with an id.

import { isObject } from '../../lib/json/json-object.ts'
import type { BodyEdit, CallWords, Json, LikeFormat, Likeness, RequestFormat } from '../format.ts'
import { listIn } from '../request/content.ts'

const request: RequestFormat = {
  title: 'Ollama (/api/chat)',
  routes: [{ end: '/api/chat', streams: 'by default' }],
  withoutCalls: [
    ...['GET /api/tags', 'GET /api/ps', 'GET /api/version', 'POST /api/show', 'POST /api/embed'],
    ...['POST /api/embeddings', 'POST /api/pull', 'POST /api/push', 'POST /api/create'],
    ...['POST /api/copy', 'DELETE /api/delete', 'POST /api/blobs/*'],
  ],
  history: 'messages',
  program: ['tools'],
  outputLimits: ({ options }) => [isObject(options) ? options.num_predict : undefined],
  elsewhere: () => undefined,
  answers: () => undefined,
  hasTools: ({ tools }) => listIn(tools).length > 0,
  calls: ({ role, tool_calls: calls }) => (role === 'assistant' ? listIn(calls).map(wordsOf) : []),
  isOfModel: ({ role }) => role === 'assistant',
  userText: ({ role, content }) => (role === 'user' ? textOf(content) : undefined),
  modelText: ({ content }) => textOf(content),
  edit: {
    addAdvice: (_, content) => [
      { kind: 'append', path: ['messages'], value: { role: 'system', content } },
    ],
    withoutCalls,
  },
}

/** The API has no other way. */
function withoutCalls({ tools }: Json): BodyEdit[] {
  return listIn(tools).length > 0 ? [{ kind: 'set', path: ['tools'], value: [] }] : []
}

function wordsOf({ id, function: called }: Json): CallWords {
  const { name, arguments: args } = isObject(called) ? called : {}
  return typeof id === 'string' && id !== '' ? [id, name] : ['', name, args]
}

function textOf(content: unknown): string {
  return typeof content === 'string' ? content : ''
}

/** Messages differ from those of Chat Completions in the place of thinking and in the results. */
const like: Likeness = {
  format: 'openai-chat',
  body: ({ messages, options, ...body }) => ({
    ...body,
    max_tokens: isObject(options) ? options.num_predict : undefined,
    messages: Array.isArray(messages) ? inOrderOfCalls(messages.map(messageOf)) : messages,
  }),
}

function messageOf(message: unknown): unknown {
  if (!isObject(message)) return message
  const { thinking, ...others } = message
  return typeof thinking === 'string' ? { ...others, reasoning_content: thinking } : others
}

/** Without ids, a result names its tool. Chat Completions pairs such results by their order. */
function inOrderOfCalls(messages: readonly unknown[]): unknown[] {
  const ordered: unknown[] = []
  let names: unknown[] = []
  let results: Json[] = []

  function endResults(): void {
    for (const name of names) {
      const at = results.findIndex((one) => (one.tool_name ?? one.name ?? name) === name)
      if (at >= 0) ordered.push(...results.splice(at, 1))
    }
    ordered.push(...results)
    results = []
  }

  for (const message of messages) {
    if (isObject(message) && message.role === 'tool') {
      results.push(message)
      continue
    }
    endResults()
    names = isObject(message) ? request.calls(message).map(([, name]) => name) : []
    ordered.push(message)
  }
  endResults()
  return ordered
}

export const ollama: LikeFormat = {
  name: 'ollama',
  like,
  request,
  model: async () => (await import('./model.ts')).ollamaModel,
}
