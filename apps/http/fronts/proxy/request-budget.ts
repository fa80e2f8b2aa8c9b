// The conversation of a guest behind the proxy, and the budgets of its requests to the upstream.
// A request that a budget refuses never reaches the upstream. Its client gets 400,
// which hosts show and do not repeat. An answer of Weir itself could become a summary or a title.
// A request that the upstream refused, or did not answer, releases its reservation.
// Any other one without a count counts in full: an answer that was cut may have been paid for.

import { randomUUID } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import type {
  GuestConversation,
  GuestRequest,
} from '../../../../client/guard/guest-conversation.ts'
import type { GuestThread } from '../../../../client/guard/guest-thread.ts'
import type { Reservation } from '../../../../services/llm-gateway/performer/budgets/reservation.ts'
import type { Usage } from '../../../../shared/contract/messages.ts'
import { HttpError } from '../../http-error.ts'
import type { GuestIdentity } from './identity/guest-identity.ts'

/**
 * `reserve` undefined: no budget counts. `reportUnjudged` undefined: nothing counts the requests.
 * `verdictNow` undefined: no stop can come.
 */
export type ProxiedConversation = GuestConversation &
  Partial<Pick<GuestThread, 'reserve' | 'reportUnjudged' | 'verdictNow'>>

/**
 * The conversation of a guest. `holds`: the calls of this guest are held, here or in hooks. `hides`: the
 * guest does not see denied answers.
 */
export type ConversationOf = (
  agent: string,
  identity: GuestIdentity & { holds: boolean; hides: boolean },
) => Promise<ProxiedConversation>

/** The conversation of a request that nothing names yet. It counts for its tenant and its agent. */
export function unnamedIdentity(): GuestIdentity {
  return { conversation: `request-${randomUUID()}`, turn: undefined }
}

/** A request that may go to the upstream. `isCounted`: a budget concerns it. */
export type ReservedRequest = {
  isCounted: boolean
  /** Resolves to the same upstream's answer, whose body is still to come. */
  sent<Answer extends { received: IncomingMessage }>(answer: Promise<Answer>): Promise<Answer>
  settle(usage: Usage): Promise<void>
}

/**
 * `guest` undefined: it cannot be opened, so no budget counts. `track`: work that the client does not
 * wait for. Throws the error for the client.
 */
export async function reserveRequest(
  guest: ProxiedConversation | undefined,
  request: GuestRequest,
  options: { isNamed: boolean; baseUrl: string; track(work: Promise<void>): void },
): Promise<ReservedRequest> {
  const made = await guest?.reserve?.(request, options)
  if (made?.kind !== 'failed') return reservedRequest(made, options.track)
  if (made.retryable)
    throw new HttpError(503, made.code, `Weir could not reserve this request: ${made.reason}`)
  throw new HttpError(400, made.code, made.reason, {
    type: 'invalid_request_error',
    headers: { 'x-should-retry': 'false' },
  })
}

function reservedRequest(
  reservation: Reservation | undefined,
  track: (work: Promise<void>) => void,
): ReservedRequest {
  const release = () => reservation !== undefined && track(reservation.release())
  return {
    isCounted: reservation !== undefined,
    async sent(answer) {
      const sent = await answer.catch((error: unknown) => {
        if (error instanceof HttpError) release() // no answer has begun
        throw error
      })
      if ((sent.received.statusCode ?? 0) >= 400) release()
      return sent
    },
    async settle(usage) {
      await reservation?.settle(usage)
    },
  }
}
