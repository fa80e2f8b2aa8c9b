// Classifies the errors of Anthropic's SDK.

import { APIConnectionTimeoutError, APIError } from '@anthropic-ai/sdk'
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
      words: [error.type],
      statement: statementOf(error, error.status),
    },
    apiKey,
  )
}

/**
 * The provider's message, otherwise its body. Strips the status that the SDK adds, and the SDK's
 * text for an empty body.
 */
function statementOf({ apiMessage, message }: APIError, status: number): string {
  if (typeof apiMessage === 'string') return apiMessage
  const body = message.startsWith(`${status} `) ? message.slice(`${status} `.length) : message
  return body === 'status code (no body)' ? '' : body
}
