// Classifies the errors of OpenAI's SDK.

import { APIConnectionTimeoutError, APIError } from 'openai'
import { isObject } from '../../../../../shared/lib/json/json-object.ts'
import type { Failed } from '../../../../../shared/wire/exchange.ts'
import {
  connectionFailure,
  httpFailure,
} from '../../../../../shared/wire/faults/provider-errors.ts'
import type { Secret } from '../../../../../shared/wire/faults/short-reason.ts'

/** An error before the response began. */
export function refusalOf(error: unknown, apiKey: Secret): Failed {
  if (!(error instanceof APIError) || typeof error.status !== 'number')
    return connectionFailure(error, error instanceof APIConnectionTimeoutError)
  return httpFailure(
    {
      status: error.status,
      headers: error.headers,
      words: [error.type, error.code],
      statement: statementOf(error, error.status),
    },
    apiKey,
  )
}

/** Moves an error's body to `error`, the only place where the SDK looks for it. */
export function shownError(sent: unknown): unknown {
  const body: unknown = Array.isArray(sent) ? sent[0] : sent
  return body === undefined || (isObject(body) && 'error' in body) ? body : { error: body }
}

/**
 * The provider's message, otherwise its body. Strips the status that the SDK adds, and the SDK's
 * text for an empty body.
 */
function statementOf({ error, message }: APIError, status: number): string {
  const given: unknown = error
  if (typeof given === 'string') return given
  if (isObject(given)) {
    const statement = [given.message, given.detail].find((words) => typeof words === 'string')
    return typeof statement === 'string' ? statement : JSON.stringify(given)
  }
  const body = message.startsWith(`${status} `) ? message.slice(`${status} `.length) : message
  return body === 'status code (no body)' ? '' : body
}
