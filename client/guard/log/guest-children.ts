// The children of a guest in the tree of its session: each has a place before its call may run. The ledger
// decides (CHILD-PLACES-1).
// GUEST-CHILDREN-1. Memory only names the places to give back. Without it, a place lapses with the
//     longest time that a call may run.
// GUEST-CHILDREN-2. The tree of a guest is its session with all turns. So a child in the background, and
//     a restart, change no count.

import type { CallEnding } from '../../../shared/contract/call/call-endings.ts'
import {
  type CallId,
  type ConversationId,
  callKey,
  type RoundId,
  roundIdOf,
} from '../../../shared/contract/ids.ts'
import { limits } from '../../../shared/contract/limits.ts'
import type { Policy } from '../../../shared/contract/messages.ts'
import { lineOf, type Placed, treeOf } from '../../../shared/contract/tree.ts'
import { hostNamed } from '../../../shared/hosts/hosts.ts'
import { touch } from '../../../shared/lib/recency.ts'
import type { Child, ChildPlaces } from '../../../shared/runtime/budgets/child-places.ts'
import type { CallVerdict } from '../guest-conversation.ts'

/** The places of one front's calls. */
export type GuestChildren = {
  /** The denials of allowed calls that may start no child now. `inTree`: calls that have their places. */
  denialsIn(
    verdicts: readonly Pick<CallVerdict, 'callId' | 'name' | 'verdict'>[],
    round: RoundId & { host: string | undefined; inTree: ReadonlySet<number> },
  ): Promise<ReadonlyMap<number, CallEnding>>
  /** The agent of the call goes on under this conversation. Its place comes back when that ends. */
  goesOn(of: ConversationId, callId: string, child: ConversationId): void
  /** The call has its result, or without `callId` the turn of a child has ended. */
  ended(of: ConversationId, callId?: string): Promise<void>
}

export type GuestChildrenOptions = {
  places: ChildPlaces
  policy: (conversation: ConversationId) => Promise<Pick<Policy, 'tree' | 'parent'>>
}

/** The name of a guest's tree. */
export function guestTree(placed: Placed): string {
  return JSON.stringify([treeOf(placed)])
}

export function guestChildren({ places, policy }: GuestChildrenOptions): GuestChildren {
  const held = new Map<string, Pick<Child, 'round' | 'name'>>()

  async function denialOf(call: CallId, callId: string): Promise<CallEnding | undefined> {
    const { conversation } = call
    const { tree: caps, parent } = await policy(conversation)
    if (caps === null) return undefined
    const placed = { conversation, parent }
    const own = { round: roundIdOf(call), name: callKey(call) }
    const depth = lineOf(placed).length
    const forMs = limits.toolTimeoutMsMax
    const denial = await places.denialOf({ ...own, tree: guestTree(placed), depth, caps, forMs })
    if (denial === undefined) touch(held, keyOf(conversation, callId), own, limits.guestsOpenMax)
    return denial
  }

  return {
    async denialsIn(verdicts, { host, inTree, ...place }) {
      const denials = new Map<number, CallEnding>()
      const tools = hostNamed(host)?.starts?.tools ?? []
      for (const [ordinal, { callId, name, verdict }] of verdicts.entries()) {
        if (verdict !== 'allow' || inTree.has(ordinal) || !tools.includes(name)) continue
        const denial = await denialOf({ ...place, ordinal }, callId)
        if (denial !== undefined) denials.set(ordinal, denial)
      }
      return denials
    },

    goesOn(of, callId, child) {
      const own = held.get(keyOf(of, callId))
      if (own === undefined) return
      held.delete(keyOf(of, callId))
      touch(held, keyOf(child), own, limits.guestsOpenMax)
    },

    async ended(of, callId) {
      const own = held.get(keyOf(of, callId))
      if (own === undefined) return
      held.delete(keyOf(of, callId))
      await places.giveBack(own)
    },
  }
}

function keyOf(of: ConversationId, callId?: string): string {
  return JSON.stringify([of, callId])
}
