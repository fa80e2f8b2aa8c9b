// A request to a model and its answer, on a line of a log in one of the known wrappings. The format
// reads their contents.

import { isObject } from '../../shared/lib/json/json-object.ts'
import type { Json } from '../../shared/transcript/json-fields.ts'
import type { SessionFormat } from '../../shared/wire/format.ts'
import { apiFormats } from '../../shared/wire/formats.ts'
import { fileFormats, sessions } from '../../shared/wire/sessions.ts'
import { conversationIdIn, type FoundId, type IdField } from './conversation-id.ts'

export type Exchange = {
  /**
   * A body, or the list in it. Without a request it is the whole value, so the format can name the
   * missing field.
   */
  request: unknown
  /** Undefined: no answer. */
  answer: unknown
  conversation: FoundId | undefined
  /**
   * For histories kept at the provider: the ids by which a later request continues this one, and the
   * id that this one continues.
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
/** The object around both. */
const wrapperNames = ['span_data', 'data', 'payload', 'event', 'record', 'log']
const depthMax = 4

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

/** Whether a list holds transcripts or enveloped messages, and is not a list of messages. */
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
 * The message or item in a line of a recorded session. Undefined: none. Some items have only a type,
 * which neighbours of a request can have too. `of`: the sessions that count.
 */
export function envelopedIn(value: unknown, of: readonly SessionFormat[] = sessions): unknown {
  if (!isObject(value)) return undefined
  for (const session of of) {
    const message = unquoted(session.message?.(value))
    if (message !== undefined) return message
  }
  const { message, type } = value
  const isItem =
    isSaid(message) ||
    (isObject(message) &&
      typeof message.type === 'string' &&
      type === undefined &&
      !hasRequest(value))
  return isItem ? message : undefined
}

/** A message or an item. */
export function isSaid(value: unknown): value is Json {
  return (
    isObject(value) &&
    !Array.isArray(value.messages) &&
    ['role', 'call_id', 'callId', 'rawItem', 'raw_item'].some((name) => name in value)
  )
}

/** `holders`: the objects around the request, outermost first. */
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
  return isAsked || listNames.some((name) => Array.isArray(found[name]))
    ? { request: found, holders: [] }
    : { holders: [] }
}

/** A question can have any list next to it. */
function listsSaid(request: unknown): boolean {
  const lists = isObject(request) ? listNames.map((name) => request[name]) : [request]
  return lists.some((list) => Array.isArray(list) && list.some(isSaid))
}

/**
 * The fields of a complete request to an API. A mere question can stand next to the complete request.
 */
function bodyIn(found: Json): Json | undefined {
  for (const name of historyNames) {
    const list = unquoted(found[name])
    if (Array.isArray(list))
      return list === found[name] ? found : { ...found, [name]: list, tools: unquoted(found.tools) }
  }
  return undefined
}

/** The members with the history of a request. */
const historyNames = [...new Set(apiFormats.map(({ request }) => request.history))]

/** The members with a list of messages, in any file. */
const listNames = [...new Set([...fileFormats.values()].flatMap(({ lists }) => lists))]

/** The fields for an answer, next to the request or in it. */
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

/** A conversation kept at the provider. Each request has only the new messages. */
function keptIn({ conversation }: Json): string | undefined {
  const id = isObject(conversation) ? conversation.id : conversation
  return typeof id === 'string' && id.startsWith('conv_') ? id : undefined
}

/** Databases store bodies as texts. */
function unquoted(value: unknown): unknown {
  if (typeof value !== 'string' || !/^\s*[[{]/.test(value)) return value
  try {
    return JSON.parse(value)
  } catch {
    return value
  }
}
