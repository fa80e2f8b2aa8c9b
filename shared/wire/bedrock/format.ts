// Amazon Bedrock's Converse and ConverseStream. Requests and answers are judged in the terms of Messages.

import { isObject } from '../../lib/json/json-object.ts'
import { decodedPart } from '../../lib/text/decoded-part.ts'
import { anthropic } from '../anthropic/format.ts'
import type { Json, LikeFormat, Likeness, RequestFormat } from '../format.ts'
import { listIn } from '../request/content.ts'
import { messageOf } from './messages.ts'

const { calls, userText, modelText } = anthropic.request

const request: RequestFormat = {
  title: 'Bedrock (/converse, /converse-stream)',
  routes: [
    { end: '/converse', inside: '/model/', streams: false },
    { end: '/converse-stream', inside: '/model/', streams: true },
  ],
  withoutCalls: ['POST /model/*/count-tokens'],
  history: 'messages',
  model: modelIn,
  program: ['system', 'toolConfig'],
  outputLimits: ({ inferenceConfig }) => [maxTokensIn(inferenceConfig)],
  elsewhere: ({ promptVariables }) => (promptVariables === undefined ? undefined : 'prompt'),
  answers: () => 1,
  hasTools: ({ toolConfig }) => toolsIn(toolConfig).length > 0,
  calls: (message) => calls(messageOf(message)),
  isOfModel: ({ role }) => role === 'assistant',
  userText: (message) => userText(messageOf(message)),
  modelText: (message) => modelText(messageOf(message)),
  edit: {
    addAdvice({ messages }, text) {
      const list: unknown[] = Array.isArray(messages) ? messages : []
      const at = list.findLastIndex((one) => isObject(one) && one.role === 'user')
      const path = ['messages', at, 'content']
      return at === -1 ? [] : [{ kind: 'append', path, value: { text } }]
    },
    withoutCalls: () => [], // Bedrock refuses a history with calls without its tools.
  },
}

/** The model in a path of Bedrock. */
export function modelIn(path: string): string {
  return decodedPart(/\/model\/([^/?]+)\/(converse|invoke)/i.exec(path)?.[1] ?? '')
}

function maxTokensIn(config: unknown): unknown {
  return isObject(config) ? config.maxTokens : undefined
}

function toolsIn(config: unknown): Json[] {
  return listIn(isObject(config) ? config.tools : undefined).flatMap(({ toolSpec }) =>
    isObject(toolSpec) ? [toolSpec] : [],
  )
}

const like: Likeness = {
  format: 'anthropic',
  body: ({ messages, system, toolConfig, inferenceConfig }) => ({
    max_tokens: maxTokensIn(inferenceConfig),
    system: listIn(system).flatMap(({ text }) =>
      text === undefined ? [] : [{ type: 'text', text }],
    ),
    tools: toolsIn(toolConfig).map(({ name, description, inputSchema }) => ({
      name,
      description,
      input_schema: isObject(inputSchema) ? inputSchema.json : undefined,
    })),
    messages: Array.isArray(messages)
      ? messages.map((one: unknown) => (isObject(one) ? messageOf(one) : one))
      : messages,
  }),
}

export const bedrock: LikeFormat = {
  name: 'bedrock',
  like,
  request,
  model: async () => (await import('./model.ts')).bedrockModel,
}
