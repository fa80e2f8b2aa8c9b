// Errors of servers in their many shapes: the body of an HTTP error, or inside a stream that began with
// 200.

import { isObject, jsonText } from '../../lib/json/json-object.ts'
import type { Json } from '../../transcript/json-fields.ts'
import type { Failed } from '../exchange.ts'
import { hasMeaning, type Reported } from './fault-table.ts'
import { isRefusal, reportedError } from './provider-errors.ts'

/** The error in a chunk or in one of its choices; undefined: none. */
export function errorIn(
  chunk: Json,
  eventName: string | null,
  sent: { choice: Json }[] = [],
): Json | undefined {
  const { base_resp: base, object, type, choices } = chunk
  let error = saidBy(chunk)
  for (const { choice } of sent)
    error ??= saidBy(choice) ?? saidBy(choice.delta) ?? saidBy(choice.message)
  error ??= saidBy(chunk.x_groq)
  if (isObject(error)) return error
  if (error !== undefined) return { ...chunk, message: error }
  if (isObject(base) && saysSomething(base.status_code))
    return { code: base.status_code, message: base.status_msg }
  if (eventName === 'error' || object === 'error' || type === 'error' || type === 'exception')
    return chunk
  return choices === undefined || choices === null ? errorBody(chunk) : undefined
}

/** The error that an object reports. Undefined: none. */
function saidBy(holder: unknown): unknown {
  return isObject(holder) && saysSomething(holder.error) ? holder.error : undefined
}

/**
 * False for a value that only states that there is no error: `{}`, `false`, a code of 0, or an
 * object of such values.
 */
function saysSomething(value: unknown): boolean {
  return isObject(value)
    ? Object.values(value).some((inner) => isObject(inner) || !isBlank(inner))
    : !isBlank(value)
}

function isBlank(value: unknown): boolean {
  return (
    value === undefined ||
    value === null ||
    value === false ||
    ((typeof value === 'string' || typeof value === 'number') && Number(value) === 0)
  )
}

/** The body of an error in the place of a chunk, as many servers write it. */
function errorBody(chunk: Json): Json | undefined {
  const { message, detail, errors, success, status } = chunk
  const first: unknown = Array.isArray(errors) ? errors[0] : errors
  if (saysSomething(first)) return isObject(first) ? first : { ...chunk, message: first }
  const exception = Object.keys(chunk).find(
    (name) => name.endsWith('Exception') && isObject(chunk[name]),
  ) // Bedrock's error names
  if (exception !== undefined) return { type: exception, ...(chunk[exception] as Json) }
  const statement = [chunk.error_msg, chunk.error_message, chunk.msg].find(
    (words) => typeof words === 'string',
  )
  const said = message ?? statement ?? detailText(detail)
  const isError =
    saysSomething(chunk.error_code) ||
    statement !== undefined ||
    success === false ||
    status === 'error' ||
    Number(status) >= 400
  if (typeof message === 'string' || detail !== undefined || isError)
    return {
      ...chunk,
      code: chunk.code ?? chunk.error_code,
      ...(said !== undefined && { message: said }),
    }
  return undefined
}

/** FastAPI's servers send a list of mistakes. */
function detailText(detail: unknown): string | undefined {
  if (!Array.isArray(detail)) return typeof detail === 'string' ? detail : undefined
  const said = detail.flatMap((one: unknown) =>
    isObject(one) && typeof one.msg === 'string' ? [one.msg] : [],
  )
  return said.length > 0 ? said.join('; ') : undefined
}

/** The body of an HTTP error. */
export function errorOfBody(body: unknown): Pick<Required<Reported>, 'words' | 'statement'> {
  const sent = onlyOf(body)
  if (typeof sent === 'string') return { words: [], statement: sent }
  if (!isObject(sent)) return { words: [], statement: sent ? JSON.stringify(sent) : '' }
  const error = errorIn(sent, null) ?? sent
  const { type, code, status } = error
  return {
    words: [type, code, status, ...detailsOf(error).map(({ reason }) => reason)],
    statement: withRetry(error, textOfError(error) ?? JSON.stringify(error)),
  }
}

/** Google's APIs can send a list with one error. */
export function onlyOf(body: unknown): unknown {
  return Array.isArray(body) ? body[0] : body
}

/** The text of a server for people. Undefined: the error has none. */
export function textOfError({ message, detail }: Json): string | undefined {
  return [message, detail].find((words) => typeof words === 'string')
}

/** The text of an error, with the wait in its details. */
export function withRetry(error: Json, text: string): string {
  return `${text}${retryIn(detailsOf(error), text)}`
}

function detailsOf({ details }: Json): Json[] {
  return Array.isArray(details) ? details.filter(isObject) : []
}

/** Google's APIs have the wait in the details, and often not in the message. */
function retryIn(details: Json[], statement: string): string {
  const delay = details.map(({ retryDelay }) => retryDelay).find((one) => typeof one === 'string')
  return delay === undefined || /\bretry in\b/i.test(statement) ? '' : ` Please retry in ${delay}.`
}

/** Classifies an error inside a stream. */
export function faultOf(error: Json): Failed {
  const type =
    [error.type, error.code].find((word) => typeof word === 'string' && word !== '') ?? 'error'
  const status = [error.status_code, error.code, error.status]
    .map(Number)
    .find((code) => code >= 400 && code < 600)
  const words = [error.type, error.code]
  const isOutput = hasMeaning('output', { status, words: [error.code], statement: '' })
  const isRefused =
    status === undefined
      ? hasMeaning('refused', { status, words, statement: '' })
      : isRefusal(status)
  return reportedError({
    type: jsonText(type),
    words,
    message: error.message ?? error.detail,
    refused: isRefused && !isOutput,
  })
}
