// An answer of a file's owner to a request, as JSON.

import { type ErrorCode, errorCodes, WeirError } from '../../../lib/errors.ts'

export type Answer =
  | { value: unknown }
  | { error: { code: ErrorCode; message: string; retryable: boolean } }

export function failedAnswer(error: unknown): Answer {
  if (error instanceof WeirError)
    return { error: { code: error.code, message: error.message, retryable: error.retryable } }
  return {
    error: {
      code: 'runtime.assertion',
      message: error instanceof Error ? error.message : String(error),
      retryable: false,
    },
  }
}

/** The value of an answer. Throws the owner's error. */
export function valueIn(answer: Answer): unknown {
  if ('value' in answer) return answer.value
  const { code, message, retryable } = answer.error
  throw new WeirError(errorCodes.find((known) => known === code) ?? 'runtime.assertion', message, {
    retryable,
  })
}
