// What stands on a line of a log: a request to a model and what it was answered, in one of the
// wrappings that README.md lists. Whose words they are written in, the format knows.

import { isObject } from '../../shared/lib/json/json-object.ts'
import { type ConversationId, conversationIdIn, type IdField } from './conversation-id.ts'
import type { Json } from './json-fields.ts'

export type Exchange = {
  /**
   * A body, or the list in it; the whole value where no request was found, so that the format can
   * say what it misses.
   */
  request: unknown
  /** Undefined: there is none. */
  answer: unknown
  conversation: ConversationId | undefined
  /**
   * Where the provider keeps what was said: by what a later request says that it goes on from this
   * one, and by what this one says so.
   */
  names: string[]
  after: string | undefined
}

const requestNames = [
  'request',
  'request_body',
  'requestBody',
  'body',
  'params',
  'kwargs',
  'input',
  'inputs',
]
const answerNames = [
  'response',
  'response_body',
  'responseBody',
  'output',
  'outputs',
  'completion',
  'result',
]
/** What is around both. */
const wrapperNames = ['span_data', 'data', 'payload', 'event', 'record', 'log']
const depthMax = 4

/** Where a list of items may stand that is no request's: what the Agents SDK keeps. */
export const itemListNames = [
  'items',
  'history',
  'input_items',
  'newItems',
  'new_items',
  'generatedItems',
  'generated_items',
]

export function exchangeIn(value: unknown, idField: IdField): Exchange {
  const { request = value, holders } = requestIn(value, 0)
  const body = isObject(request) ? [request] : []
  const answer = [...body, ...holders.toReversed()].map(answerIn).find((one) => one !== undefined)
  const answered = isObject(answer) ? [answer] : []
  const kept = [...body, ...answered].map(keptIn).find((one) => one !== undefined)
  const id = Array.isArray(answered[0]?.output) ? answered[0].id : undefined
  return {
    request,
    answer,
    conversation: conversationIdIn(value, [...holders, ...body, ...answered], {
      idField,
      isAnswered: answer !== undefined,
    }),
    names: [...(typeof id === 'string' ? [id] : []), ...(kept === undefined ? [] : [kept])],
    after:
      [...body, ...answered]
        .map(({ previous_response_id: before }) => before)
        .find((one) => typeof one === 'string') ?? kept,
  }
}

/**
 * Whether a list has transcripts, or messages with an envelope around each, and is no list of
 * messages itself.
 */
export function holdsTranscripts(list: unknown[]): boolean {
  return (
    list.every((one) => isObject(one) && !isSaid(one)) &&
    list.some((one) => envelopedIn(one) !== undefined || requestIn(one, 0).request !== undefined)
  )
}

export function hasRequest(value: unknown): boolean {
  return requestIn(value, 0).request !== undefined
}

/**
 * The message, or the item, that a log of sessions says something of, or a row of the table in
 * which the Agents SDK keeps sessions (`message_data`, a text). Undefined: there is none. Items of
 * some kinds have nothing but a type, which what stands beside a request may have too.
 */
export function envelopedIn(value: unknown): unknown {
  if (!isObject(value)) return undefined
  if ('message_data' in value) return unquoted(value.message_data)
  const { message, type } = value
  const isItem =
    isSaid(message) ||
    (isObject(message) &&
      typeof message.type === 'string' &&
      type === undefined &&
      !hasRequest(value))
  return isItem ? message : undefined
}

/** A message, or an item of one. */
export function isSaid(value: unknown): value is Json {
  return (
    isObject(value) &&
    !Array.isArray(value.messages) &&
    ['role', 'call_id', 'callId', 'rawItem', 'raw_item'].some((name) => name in value)
  )
}

/** `holders`: what the request stands in, outermost first. */
function requestIn(value: unknown, depth: number): { request?: unknown; holders: Json[] } {
  const found = unquoted(value)
  if (Array.isArray(found)) return { request: found, holders: [] }
  if (!isObject(found) || depth > depthMax) return { holders: [] }
  const body = bodyIn(found)
  if (body !== undefined) return { request: body, holders: [] }
  const isAsked = typeof unquoted(found.input) === 'string'
  for (const name of [...requestNames, ...wrapperNames]) {
    const inner = requestIn(found[name], depth + 1)
    if (inner.request !== undefined && (!isAsked || listsSaid(inner.request)))
      return { request: inner.request, holders: [found, ...inner.holders] }
  }
  return isAsked || itemListNames.some((name) => Array.isArray(found[name]))
    ? { request: found, holders: [] }
    : { holders: [] }
}

/** Beside a question any list may stand. */
function listsSaid(request: unknown): boolean {
  const lists = isObject(request)
    ? ['messages', 'input', ...itemListNames].map((name) => request[name])
    : [request]
  return lists.some((list) => Array.isArray(list) && list.some(isSaid))
}

/**
 * Of a request that says all: to Messages, to Chat Completions or to Responses. One that is only a
 * question may stand beside the whole.
 */
function bodyIn(found: Json): Json | undefined {
  const messages = unquoted(found.messages)
  if (Array.isArray(messages))
    return messages === found.messages
      ? found
      : { ...found, messages, tools: unquoted(found.tools) }
  const input = unquoted(found.input)
  return Array.isArray(input) ? (input === found.input ? found : { ...found, input }) : undefined
}

/** Of what stands beside a request, or in one that its answer was put into. */
function answerIn(holder: Json): unknown {
  if (Array.isArray(holder.choices)) return holder
  for (const name of answerNames) {
    const answer = unquoted(holder[name])
    if (answer === undefined || answer === null || answer === '') continue
    if (!isObject(answer)) return answer
    const inner = unquoted(answer.body)
    return isObject(inner) ? inner : answer
  }
  return undefined
}

/** A conversation that the provider keeps: each request has only what is new in it. */
function keptIn({ conversation }: Json): string | undefined {
  const id = isObject(conversation) ? conversation.id : conversation
  return typeof id === 'string' && id.startsWith('conv_') ? id : undefined
}

/** Databases and tables keep bodies as texts. */
function unquoted(value: unknown): unknown {
  if (typeof value !== 'string' || !/^\s*[[{]/.test(value)) return value
  try {
    return JSON.parse(value)
  } catch {
    return value
  }
}
