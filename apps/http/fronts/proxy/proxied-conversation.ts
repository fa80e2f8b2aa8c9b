// The conversation of a guest behind the proxy.

import type { GuestConversation } from '../../../../client/guard/guest-conversation.ts'
import type { GuestThread } from '../../../../client/guard/guest-thread.ts'

/** `reserve` undefined: no budget counts. `reportUnjudged` undefined: nothing counts the requests. */
export type ProxiedConversation = GuestConversation &
  Partial<Pick<GuestThread, 'reserve' | 'reportUnjudged'>>

/**
 * The conversation of a guest. `turn` undefined: the history names it. `holds`: the calls of this guest
 * are held, here or in hooks. `hides`: the guest does not see denied answers. `isUnshown`: its requests show no calls.
 */
export type ConversationOf = (
  agent: string,
  id: string,
  options: {
    turn: string | undefined
    isUnshown?: boolean | undefined
    holds: boolean
    hides: boolean
  },
) => Promise<ProxiedConversation>
