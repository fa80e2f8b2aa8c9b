// The HTTP status of an error of Weir, also of one that ended a turn, and the requests that a closing
// server breaks.

import type { ErrorCode } from '../../../shared/lib/errors.ts'
import { WeirError } from '../../../shared/lib/errors.ts'
import { type ErrorStatus, HttpError } from '../http-error.ts'
import type { TurnData } from './chat/turn-data.ts'
import type { EdgeContext } from './edge-context.ts'

const statuses: Partial<Record<ErrorCode, ErrorStatus>> = {
  'message.invalid': 400,
  usage: 400,
  'agent.unknown': 404,
  'approval.unknown': 404,
  'approval.ambiguous': 409,
  'conversation.unknown': 404,
  'conversation.open': 409,
  'encryption.deleted': 403,
  'call.unknown': 404,
  'call.over': 409,
  'history.missing': 409,
  'fork.unconfirmed': 503,
  'guard.unknown': 404,
  'policy.unknown': 404,
  'budget.unknown': 404,
  'stop.unknown': 404,
  'stop.taken': 409,
  'stop.in-force': 403,
  'budget.reached': 429,
  'agent.differs': 503,
  'bus.closed': 503,
  'bus.full': 503,
  'bus.unreachable': 503,
  'bus.locked': 503,
  'bus.unauthorized': 503,
  'codec.newer-schema': 503,
}

/**
 * The answer to a request whose turn a budget or a stop ended. `code`: of that end; null: there is
 * none. A repeat would end alike.
 */
export function endError(
  { code, reason }: Pick<TurnData, 'code' | 'reason'>,
  { headers = {}, fields = {} }: { headers?: Record<string, string>; fields?: object } = {},
): HttpError | undefined {
  const status = code === null ? undefined : statuses[code]
  if (code === null || status === undefined) return undefined
  const more = { headers: { ...headers, 'x-should-retry': 'false' }, fields }
  return new HttpError(status, code, reason, more)
}

/**
 * The end of an answer that is not streamed. When the server closes it rejects with 503 at once: SDKs
 * repeat the request, and another server or the next process answers it.
 */
export async function answeredHere<Value>(
  { closing }: Pick<EdgeContext, 'closing'>,
  answer: Promise<Value>,
): Promise<Value> {
  const { promise: closed, reject } = Promise.withResolvers<never>()
  const close = (): void => reject(interrupted())
  if (closing.aborted) close()
  closing.addEventListener('abort', close, { once: true })
  try {
    return await Promise.race([answer, closed])
  } finally {
    closing.removeEventListener('abort', close)
  }
}

export function interrupted(): HttpError {
  const text = 'Weir cannot go on with this answer: send the same request again'
  return new HttpError(503, 'edge.interrupted', text, { headers: { 'retry-after': '1' } })
}

const unavailable = 'Weir cannot answer now: try again later'

/** An error of the server has a constant text: its own may hold secrets, paths and addresses. */
export function httpErrorOf(error: unknown): HttpError {
  if (error instanceof HttpError) return error
  const status = error instanceof WeirError ? statuses[error.code] : undefined
  return error instanceof WeirError && status !== undefined
    ? new HttpError(status, error.code, status === 503 ? unavailable : error.message, {
        cause: error,
      })
    : new HttpError(500, 'http.internal', 'Weir could not answer', { cause: error })
}
