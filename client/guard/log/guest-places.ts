// The reservations that calls of a guest need before they run. A child needs a place in the tree of its
// session, and a call that must not run twice needs its values. The ledger decides.
// Memory only names the reservations to end. Without it, a place lapses with the longest
// time that a call may run, and from then on values are of a call that may have run.
// The tree of a guest is its session with all turns. So a child in the background, and
// a restart, change no count.

import { argumentText } from '../../../shared/contract/call/call.ts'
import type { CallEnding } from '../../../shared/contract/call/call-endings.ts'
import { onceRuleOf } from '../../../shared/contract/guard/once-guard.ts'
import {
  type CallId,
  type ConversationId,
  callKey,
  type RoundId,
  roundIdOf,
} from '../../../shared/contract/ids.ts'
import { limits } from '../../../shared/contract/limits.ts'
import type { Call, Declaration, Policy, ResultStatus } from '../../../shared/contract/messages.ts'
import { lineOf, type Placed, treeOf } from '../../../shared/contract/tree.ts'
import { hostNamed } from '../../../shared/hosts/hosts.ts'
import { touch } from '../../../shared/lib/recency.ts'
import { occurrences } from '../../../shared/lib/text/occurrences.ts'
import type { Child, ChildPlaces } from '../../../shared/runtime/budgets/child-places.ts'
import type { OnceValues } from '../../../shared/runtime/budgets/once-values.ts'
import type { SentRound } from '../front.ts'
import type { CallVerdict } from '../guest-conversation.ts'

/** The reservations of one front's calls. */
export type GuestPlaces = {
  /** The denials of allowed calls that may not run now. `inTree`: calls that have their reservations. */
  denialsIn(
    verdicts: readonly Pick<CallVerdict, 'callId' | 'name' | 'verdict'>[],
    round: RoundId & {
      host: string | undefined
      inTree: ReadonlySet<number>
      sent: Pick<SentRound, 'response' | 'declarations'>
    },
  ): Promise<ReadonlyMap<number, CallEnding>>
  /** The agent of the call, the first one of its id, goes on under this conversation. Its place comes back when that ends. */
  goesOn(of: ConversationId, callId: string, child: ConversationId): void
  /** The call has its result. */
  ended(of: ConversationId, result: CallName & { status: ResultStatus }): Promise<void>
  /** The turn of a child has ended. */
  childEnded(of: ConversationId): Promise<void>
}

/** `nth`: as in a GuestResult, because an agent may give one id to several calls of a round. */
type CallName = { callId: string; nth?: number }

export type GuestPlacesOptions = {
  children: ChildPlaces
  once: OnceValues
  policy: (conversation: ConversationId) => Promise<Pick<Policy, 'tree' | 'parent' | 'guards'>>
}

/** The name of a guest's tree. */
export function guestTree(placed: Placed): string {
  return JSON.stringify([treeOf(placed)])
}

export function guestPlaces({ children, once, policy }: GuestPlacesOptions): GuestPlaces {
  const held = new Map<string, Pick<Child, 'round' | 'name'>>()
  const heldValues = new Map<string, CallId>()

  async function denialAsChild(call: CallId, called: CallName): Promise<CallEnding | undefined> {
    const { conversation } = call
    const { tree: caps, parent } = await policy(conversation)
    if (caps === null) return undefined
    const placed = { conversation, parent }
    const own = { round: roundIdOf(call), name: callKey(call) }
    const depth = lineOf(placed).length
    const forMs = limits.toolTimeoutMsMax
    const denial = await children.denialOf({ ...own, tree: guestTree(placed), depth, caps, forMs })
    if (denial === undefined) touch(held, keyOf(conversation, called), own, limits.guestsOpenMax)
    return denial
  }

  async function denialAsEqual(
    id: CallId,
    called: CallName,
    { call, declaration }: { call: Call; declaration: Declaration },
  ): Promise<CallEnding | undefined> {
    const { guards } = await policy(id.conversation)
    if (!once.concerns({ declaration, guards })) return undefined
    const forMs = limits.toolTimeoutMsMax
    const values = { declaration, arguments: argumentText(call), guards, forMs }
    const denial = await once.denialOf({ ...id, ...values })
    const key = keyOf(id.conversation, called)
    if (denial === undefined) touch(heldValues, key, id, limits.guestsOpenMax)
    return denial
  }

  async function leaveTree(key: string): Promise<void> {
    const own = taken(held, key)
    if (own !== undefined) await children.giveBack(own)
  }

  const ended: GuestPlaces['ended'] = async (of, { status, ...called }) => {
    const key = keyOf(of, called)
    await leaveTree(key)
    const values = taken(heldValues, key)
    if (values !== undefined) await once.ended(values, status)
  }

  return {
    async denialsIn(verdicts, { host, inTree, sent, ...place }) {
      const denials = new Map<number, CallEnding>()
      const starting = hostNamed(host)?.starts?.tools ?? []
      const nthOf = occurrences()
      for (const [ordinal, { callId, name, verdict }] of verdicts.entries()) {
        const called = { callId, nth: nthOf(callId) }
        if (verdict !== 'allow' || inTree.has(ordinal)) continue
        const id = { ...place, ordinal }
        const call = sent.response.calls[ordinal]
        const declaration = sent.declarations.find((one) => one.name === name)
        const equal =
          call && declaration && onceRuleOf(declaration)?.within === 'tenant'
            ? await denialAsEqual(id, called, { call, declaration })
            : undefined
        const denial =
          equal ?? (starting.includes(name) ? await denialAsChild(id, called) : undefined)
        if (denial === undefined) continue
        denials.set(ordinal, denial)
        if (equal === undefined) await ended(place.conversation, { ...called, status: 'skipped' })
      }
      return denials
    },

    goesOn(of, callId, child) {
      const own = taken(held, keyOf(of, { callId }))
      if (own !== undefined) touch(held, keyOf(child), own, limits.guestsOpenMax)
    },

    ended,

    childEnded: (of) => leaveTree(keyOf(of)),
  }
}

function taken<Value>(held: Map<string, Value>, key: string): Value | undefined {
  const value = held.get(key)
  held.delete(key)
  return value
}

function keyOf(of: ConversationId, call?: CallName): string {
  return JSON.stringify(call === undefined ? [of] : [of, call.callId, call.nth ?? 0])
}
