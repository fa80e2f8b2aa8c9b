// OpenAI's Responses.

import { jsonText } from '../../lib/json/json-object.ts'
import type {
  AgentFormat,
  BodyEdit,
  Json,
  ModelParts,
  RequestFormat,
  TranscriptFormat,
  WireFormat,
} from '../format.ts'
import { openaiApi, openaiEfforts, openaiTiers } from '../openai/api.ts'
import { answerOfOpenai, openaiFile, readOpenai } from '../openai/history.ts'
import { contentText, listIn, textIn, toolChoice } from '../request/content.ts'
import { toolName } from './tool-name.ts'

const request: RequestFormat = {
  title: 'Responses',
  routes: [{ end: '/responses' }],
  withoutCalls: ['POST /responses/input_tokens', 'POST /traces/ingest'],
  history: 'input',
  elsewhere: (body) =>
    (['previous_response_id', 'conversation', 'prompt'] as const).find(
      (name) => body[name] !== undefined && body[name] !== null,
    ) ?? (body.background === true ? 'background' : undefined),
  program: ['instructions', 'tools'],
  outputLimits: ({ max_output_tokens }) => [max_output_tokens],
  answers: () => 1,
  hasTools: ({ tools }) => listIn(tools).some(isOfClient),
  calls: (item) =>
    item.type === 'function_call' || item.type === 'custom_tool_call'
      ? [[jsonText(item.call_id ?? ''), toolName(item)]]
      : [],
  isOfModel: ({ type, role }) =>
    role === 'assistant' || /^(reasoning|function_call|custom_tool_call)$/.test(jsonText(type)),
  userText: ({ type = 'message', role, content }) =>
    type === 'message' && role === 'user' ? textIn(content, ['input_text', 'text']) : undefined,
  modelText: contentText,
  userMessage: (text) => messageWith('user', text),
  edit: { addAdvice: inOwnItem, withoutCalls: toolChoice('none') },
}

/** A tool of an unknown type may be the client's. A client can run `tool_search` itself. */
function isOfClient({ type, execution }: Json): boolean {
  if (type === 'tool_search') return execution !== 'server'
  return !/^(web_search|file_search|code_interpreter|image_generation|mcp$)/.test(jsonText(type))
}

function inOwnItem({ input }: Json, text: string): BodyEdit[] {
  const item = messageWith('developer', text)
  return typeof input === 'string'
    ? [{ kind: 'set', path: ['input'], value: [messageWith('user', input), item] }]
    : [{ kind: 'append', path: ['input'], value: item }]
}

function messageWith(role: string, text: string): Json {
  return { type: 'message', role, content: [{ type: 'input_text', text }] }
}

const ends = ['completed', 'incomplete', 'failed', 'cancelled', 'done']

const agent: AgentFormat = {
  ...openaiApi('/responses'),
  accepts: {
    reasoningEffort: openaiEfforts,
    serviceTier: openaiTiers,
    seed: false,
    endMark: false,
  },
  recording: {
    hasNamedEvents: true,
    isWhole: ({ object }) => object === 'response',
    lastTypes: new Set(ends.map((end) => `response.${end}`)),
    first: /"type":\s*"response\.created"/,
    last: new RegExp(String.raw`"type":\s*"response\.(?:${ends.join('|')})"`),
    any: /"type":\s*"response\.|^event: ?response\.|"object":\s*"response"/m,
  },
}

export const openaiItems: TranscriptFormat = {
  read: readOpenai,
  answer: answerOfOpenai,
  answerName: 'the response of the API, with output',
  lists: ['input'],
  file: openaiFile,
}

export const openaiResponses = {
  name: 'openai-responses',
  transcript: openaiItems,
  request,
  model: async (): Promise<ModelParts> => (await import('./model.ts')).openaiResponsesModel,
  agent,
} satisfies WireFormat<'openai-responses'>
