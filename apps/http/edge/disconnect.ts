// A client that disconnects cancels nothing, unless its key is set to do so.

import type { SentMessage } from '../../../shared/contract/ids.ts'
import type { HttpContext } from '../server.ts'
import type { Principal } from './access/principal.ts'
import type { EdgeContext } from './edge-context.ts'

/** For `onLeave` of a stream. A server that closes cancels nothing. */
export function leaveHandler(
  { weirOf, closing, log }: EdgeContext,
  principal: Principal,
  message: SentMessage,
): () => void {
  return () => {
    if (!principal.cancelsOnDisconnect || closing.aborted) return
    weirOf(principal)
      .cancel(message)
      .catch((error: unknown) => {
        log.warn({ err: error }, 'a turn cannot be cancelled after its client left')
      })
  }
}

/** For an answer that is not streamed. */
export function whenLeft(http: HttpContext, leave: () => void): void {
  const { outgoing } = http.env
  outgoing.once('close', () => {
    if (!outgoing.writableFinished) leave()
  })
}
