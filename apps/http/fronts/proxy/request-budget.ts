// The budgets of a request on its way to the upstream.
// REQUEST-BUDGET-1. A request that a budget refuses never reaches the upstream. Its client gets 400,
//     which hosts show and do not repeat. An answer of Weir itself could become a summary or a title.

import { randomUUID } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import type {
  GuestConversation,
  GuestRequest,
} from '../../../../client/guard/guest-conversation.ts'
import type { GuestThread } from '../../../../client/guard/guest-thread.ts'
import type { Reservation } from '../../../../services/llm-gateway/budgets/reservation.ts'
import { HttpError } from '../../http-error.ts'
import type { GuestIdentity } from './guest-identity.ts'

/** `reserve` undefined: no budget counts. */
export type ProxiedConversation = GuestConversation & Partial<Pick<GuestThread, 'reserve'>>

/** The conversation of a request that nothing names yet. It counts for its tenant and its agent. */
export function unnamedIdentity(): GuestIdentity {
  return { conversation: `request-${randomUUID()}`, turn: undefined }
}

/** Undefined: no budget concerns the request. Throws the error for the client. */
export async function reserveRequest(
  guest: ProxiedConversation,
  request: GuestRequest,
  options: { isNamed: boolean; baseUrl: string },
): Promise<Reservation | undefined> {
  const made = await guest.reserve?.(request, options)
  if (made?.kind !== 'failed') return made
  if (made.retryable)
    throw new HttpError(503, made.code, `Weir could not reserve this request: ${made.reason}`)
  throw new HttpError(400, made.code, made.reason, {
    type: 'invalid_request_error',
    headers: { 'x-should-retry': 'false' },
  })
}

/**
 * Releases the reservation if the sending fails before an answer, or the answer is an error. `track`:
 * of the proxy.
 */
export async function releasedWithoutAnswer<T extends { received: IncomingMessage }>(
  reservation: Reservation | undefined,
  sending: Promise<T>,
  track: (work: Promise<void>) => void,
): Promise<T> {
  const release = () => reservation !== undefined && track(reservation.release())
  const sent = await sending.catch((error: unknown) => {
    if (error instanceof HttpError) release() // no answer has begun
    throw error
  })
  if ((sent.received.statusCode ?? 0) >= 400) release()
  return sent
}
