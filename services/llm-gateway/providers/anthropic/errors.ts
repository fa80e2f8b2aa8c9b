// What an error of Anthropic's SDK means for the attempt.

import { APIConnectionTimeoutError, APIError } from '@anthropic-ai/sdk'
import type { Failed } from '../provider.ts'
import { connectionFailure, httpFailure } from '../provider-errors.ts'

/** Before there was a response to read. */
export function refusalOf(error: unknown, apiKey: string): Failed {
  if (!(error instanceof APIError) || typeof error.status !== 'number')
    return connectionFailure(error, error instanceof APIConnectionTimeoutError)
  return httpFailure(
    {
      status: error.status,
      headers: error.headers,
      words: [error.type],
      said: saidBy(error, error.status),
    },
    apiKey,
  )
}

/**
 * The provider's message, or its body where that has none; the SDK puts the status before a body,
 * and words of its own in the place of none.
 */
function saidBy({ apiMessage, message }: APIError, status: number): string {
  if (typeof apiMessage === 'string') return apiMessage
  const body = message.startsWith(`${status} `) ? message.slice(`${status} `.length) : message
  return body === 'status code (no body)' ? '' : body
}
