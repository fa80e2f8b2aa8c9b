// Google's Gemini: `generateContent`, and `streamGenerateContent` with server-sent events.

import { isObject } from '../../lib/json/json-object.ts'
import type {
  AgentFormat,
  BodyEdit,
  CallWords,
  HttpTarget,
  Json,
  ModelAddress,
  ModelParts,
  RequestFormat,
  WireFormat,
} from '../format.ts'
import { answerOfGemini, piecesOfContent, readGemini } from './history.ts'
import { member, noCalls, objectIn, objectsIn, spelling } from './members.ts'

const request: RequestFormat = {
  title: 'Gemini',
  routes: [
    { end: ':generatecontent' },
    { end: ':streamgeneratecontent', query: ['alt', 'sse'], streams: true },
  ],
  withoutCalls: [
    ...['POST /models/*:counttokens', 'POST /models/*:computetokens', 'GET /models/*'],
    ...['POST /models/*:embedcontent', 'POST /models/*:batchembedcontents'],
    ...['GET /cachedcontents', 'GET /cachedcontents/*', 'POST /cachedcontents'],
    ...['PATCH /cachedcontents/*', 'DELETE /cachedcontents/*'],
  ],
  history: 'contents',
  model: (path) => /\/([^/]+):(?:stream)?generatecontent(?:\?|$)/i.exec(path)?.[1] ?? '',
  program: ['systemInstruction', 'system_instruction', 'tools'],
  outputLimits: (body) => {
    const settings = objectIn(body, 'generationConfig')
    return settings === undefined ? [] : [member(settings, 'maxOutputTokens')]
  },
  answers: (body) => {
    const settings = objectIn(body, 'generationConfig')
    return settings && member(settings, 'candidateCount')
  },
  elsewhere: () => undefined,
  hasTools: (body) => member(body, 'cachedContent') !== undefined || declaresFunctions(body),
  calls: ({ role, ...content }) =>
    role === 'model' ? objectsIn(content, 'parts').flatMap(callWords) : [],
  isOfModel: ({ role }) => role === 'model',
  userText,
  modelText: (content) => textsIn(content).join(' '),
  edit: {
    addAdvice: (_, text) => [
      { kind: 'append', path: ['contents'], value: { role: 'user', parts: [{ text }] } },
    ],
    withoutCalls,
  },
}

function declaresFunctions(body: Json): boolean {
  return objectsIn(body, 'tools').some((tool) => objectsIn(tool, 'functionDeclarations').length > 0)
}

function callWords(part: Json): CallWords[] {
  const call = objectIn(part, 'functionCall')
  if (call === undefined) return []
  const { id, name, args } = call
  return typeof id === 'string' && id !== '' ? [[id, name]] : [['', name, args]]
}

function userText(content: Json): string | undefined {
  const isOther =
    content.role === 'model' ||
    objectsIn(content, 'parts').some((part) => member(part, 'functionResponse') !== undefined)
  const texts = isOther ? [] : textsIn(content)
  return texts.length === 0 ? undefined : texts.join('\n\n')
}

/** Without thoughts. */
function textsIn(content: Json): string[] {
  return objectsIn(content, 'parts').flatMap(({ text, thought }) =>
    typeof text === 'string' && thought !== true ? [text] : [],
  )
}

/** The other members of the configuration stay. */
function withoutCalls(body: Json): BodyEdit[] {
  if (!declaresFunctions(body)) return []
  const name = spelling(body, 'toolConfig')
  const known = isObject(body[name]) ? body[name] : {}
  const { functionCallingConfig: _, function_calling_config: __, ...others } = known
  return [{ kind: 'set', path: [name], value: { ...others, ...noCalls } }]
}

const agent: AgentFormat = {
  keyVariable: 'GEMINI_API_KEY',
  accepts: {
    reasoningEffort: ['minimal', 'low', 'medium', 'high'],
    serviceTier: ['standard', 'flex', 'priority'],
    seed: true,
    endMark: false,
  },
  target: (model) => targetOf(model, ':streamGenerateContent?alt=sse'),
  check: (model) => targetOf(model, ''),
  recording: {
    hasNamedEvents: false,
    isWhole: ({ candidates, promptFeedback }) =>
      Array.isArray(candidates) || isObject(promptFeedback),
    lastTypes: new Set(),
    first: /"candidates":/,
    last: /"finishReason":/,
    any: /"candidates":|"promptFeedback":/,
  },
}

/** A base URL can name another version of the API than `v1beta`. */
function targetOf(
  { baseUrl = 'https://generativelanguage.googleapis.com', apiKey, path }: ModelAddress,
  method: string,
): HttpTarget {
  const base = /\/v\d\w*$/.test(baseUrl) ? baseUrl : `${baseUrl}/v1beta`
  return {
    url: `${base}/models/${path}${method}`,
    headers: apiKey === '' ? {} : { 'x-goog-api-key': apiKey },
  }
}

export const gemini = {
  name: 'gemini',
  transcript: {
    read: readGemini,
    answer: answerOfGemini,
    answerName: 'the response of the API, with candidates',
    lists: ['contents'],
    file: { name: 'gemini', item: piecesOfContent, prefills: false },
  },
  request,
  model: async (): Promise<ModelParts> => (await import('./model.ts')).geminiModel,
  agent,
} satisfies WireFormat<'gemini'>
