// What goes wrong in the words of Chat Completions servers: errors of OpenAI's SDK, and those that a server reports inside a stream it has begun.

import { APIConnectionTimeoutError, APIError } from 'openai'
import { isObject, parseJson } from './exact-json.ts'
import type { Failed } from './provider.ts'
import { connectionFailure, httpFailure, isRefusal, reportedError } from './provider-errors.ts'

type Json = Record<string, unknown>

/** Before there was a response to read. */
export function refusalOf(error: unknown, apiKey: string): Failed {
  if (!(error instanceof APIError) || typeof error.status !== 'number')
    return connectionFailure(error, error instanceof APIConnectionTimeoutError)
  return httpFailure(
    { status: error.status, headers: error.headers, words: [error.type, error.code], said: saidBy(error, error.status) },
    apiKey,
  )
}

/** Puts the body of an error where the SDK looks for it: it hands on what stands under `error`, and nothing of a body that is built otherwise. */
export function withErrorsShown(fetch: typeof globalThis.fetch): typeof globalThis.fetch {
  return async (url, init) => {
    const response = await fetch(url, init)
    if (response.status < 400) return response
    const text = await response.text()
    const sent = parseJson(text)
    const body: unknown = Array.isArray(sent) ? sent[0] : sent
    const shown = body === undefined || (isObject(body) && 'error' in body) ? body : { error: body }
    return new Response(shown === undefined ? text : JSON.stringify(shown), { status: response.status, headers: response.headers })
  }
}

/** The error that a chunk is or has, also in one of its choices; undefined: none. */
export function errorIn(chunk: Json, eventName: string | null, sent: { choice: Json }[] = []): Json | undefined {
  const { base_resp: base, object, type, choices } = chunk
  const holders = [chunk, ...sent.flatMap(({ choice }) => [choice, choice.delta, choice.message]), chunk.x_groq].filter(isObject)
  const error = holders.map((holder) => holder.error).find(saysSomething)
  if (isObject(error)) return error
  if (error !== undefined) return { ...chunk, message: error }
  if (isObject(base) && saysSomething(base.status_code)) return { code: base.status_code, message: base.status_msg }
  if (eventName === 'error' || object === 'error' || type === 'error' || type === 'exception') return chunk
  return choices === undefined || choices === null ? errorBody(chunk) : undefined
}

/** What stands where an error would and only says that there is none, is none: `{}`, `false`, a code of 0, an object of nothing but such. */
function saysSomething(value: unknown): boolean {
  return isObject(value) ? Object.values(value).some((inner) => isObject(inner) || !isBlank(inner)) : !isBlank(value)
}

function isBlank(value: unknown): boolean {
  return (
    value === undefined ||
    value === null ||
    value === false ||
    ((typeof value === 'string' || typeof value === 'number') && Number(value) === 0)
  )
}

/** A body of an error, sent in the place of a chunk, in the words of many servers. */
function errorBody(chunk: Json): Json | undefined {
  const { message, detail, errors, success, status } = chunk
  const first: unknown = Array.isArray(errors) ? errors[0] : errors
  if (saysSomething(first)) return isObject(first) ? first : { ...chunk, message: first }
  const exception = Object.keys(chunk).find((name) => name.endsWith('Exception') && isObject(chunk[name])) // Bedrock names its errors so
  if (exception !== undefined) return { type: exception, ...(chunk[exception] as Json) }
  const said = [chunk.error_msg, chunk.error_message, chunk.msg].find((words) => typeof words === 'string')
  const isError = saysSomething(chunk.error_code) || said !== undefined || success === false || status === 'error' || Number(status) >= 400
  if (typeof message === 'string' || detail !== undefined || isError)
    return { ...chunk, code: chunk.code ?? chunk.error_code, message: message ?? said ?? detail }
  return undefined
}

/** What such an error means. */
export function faultOf(error: Json): Failed {
  const type = [error.type, error.code].find((word) => typeof word === 'string' && word !== '') ?? 'error'
  const status = [error.status_code, error.code, error.status].map(Number).find((code) => code >= 400 && code < 600)
  const isModels = modelsFaults.has(`${error.code}`)
  const refused = !isModels && (status === undefined ? refusals.has(`${error.type}`) || refusals.has(`${error.code}`) : isRefusal(status))
  return reportedError({ type: `${type}`, words: [error.type, error.code], message: error.message ?? error.detail, refused })
}

/** The request was good and what the model made of it was not, so the next answer may be another. */
const modelsFaults = new Set(['tool_use_failed', 'json_validate_failed', 'output_parse_failed'])

const refusals = new Set([
  ...['invalid_request_error', 'BadRequestError', 'authentication_error', 'AuthenticationError', 'permission_error', 'not_found_error'],
  ...['NotFoundError', 'insufficient_quota', 'invalid_api_key', 'model_not_found', 'context_length_exceeded', 'content_policy_violation'],
])

/** The provider's message, or its body where that has none; the SDK puts the status before a body, and words of its own in the place of none. */
function saidBy({ error, message }: APIError, status: number): string {
  const given: unknown = error
  if (typeof given === 'string') return given
  if (isObject(given)) {
    const said = [given.message, given.detail].find((words) => typeof words === 'string')
    return typeof said === 'string' ? said : JSON.stringify(given)
  }
  const body = message.startsWith(`${status} `) ? message.slice(`${status} `.length) : message
  return body === 'status code (no body)' ? '' : body
}
