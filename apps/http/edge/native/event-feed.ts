// The events of a conversation as server-sent events. The id of each is its position, so a client
// that reconnects with Last-Event-ID continues behind the last one that it read.

import type { TurnEvent } from '../../../../client/weir.ts'
import type { HttpContext } from '../../server.ts'
import { conversationIn, type Principal } from '../access/principal.ts'
import { endCode } from '../chat/turn-data.ts'
import type { EdgeContext } from '../edge-context.ts'
import { sseResponse } from '../sse.ts'

const retryMs = 2_000

/** `conversation`: as the principal names it. `after`: a position; undefined: from the beginning. */
export type FeedRequest = { principal: Principal; conversation: string; after: string | undefined }

/** Goes on until the client leaves. */
export function feedOf(
  context: EdgeContext,
  http: HttpContext,
  { principal, conversation, after }: FeedRequest,
): Response {
  const leaving = new AbortController()
  const log = context.weirOf(principal).conversation(conversationIn(principal, conversation))
  const events = log.events({ signal: leaving.signal, after })
  return sseResponse(context, http.env.outgoing, {
    items: events,
    eventsOf: (event) => [
      { id: event.position, event: event.type, data: JSON.stringify(sent(event, conversation)) },
    ],
    preamble: `retry: ${retryMs}`,
    onLeave: () => leaving.abort(),
  })
}

/** The end of a turn also has the code of the budget or the stop that caused it. */
function sent(event: TurnEvent, conversation: string): object {
  const end = event.type === 'turn-finished' ? { code: endCode(event) } : {}
  return { ...event, ...end, conversation }
}
