// The errors of Google's APIs: `{ error: { code, message, status, details } }`, or a list with one.

import { isObject } from '../../lib/json/json-object.ts'
import type { Json } from '../format.ts'

/** `words`: the types and codes of an error. `statement`: its message; empty: none. */
export function geminiError(body: unknown): { words: unknown[]; statement: string } {
  const sent: unknown = Array.isArray(body) ? body[0] : body
  const error = isObject(sent) && isObject(sent.error) ? sent.error : undefined
  if (error === undefined)
    return { words: [], statement: isObject(sent) ? JSON.stringify(sent) : '' }
  const message = typeof error.message === 'string' ? error.message : JSON.stringify(error)
  return {
    words: [error.status, ...detailsOf(error).map(({ reason }) => reason)],
    statement: `${message}${retryIn(error, message)}`,
  }
}

/** The wait stands in the details and often not in the message. */
function retryIn(error: Json, message: string): string {
  const delay = detailsOf(error)
    .map(({ retryDelay }) => retryDelay)
    .find((one) => typeof one === 'string')
  return delay === undefined || /\bretry in\b/i.test(message) ? '' : ` Please retry in ${delay}.`
}

function detailsOf({ details }: Json): Json[] {
  return Array.isArray(details) ? details.filter(isObject) : []
}
