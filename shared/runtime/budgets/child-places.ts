// The places of children in their tree, as reservations of the ledger.
// CHILD-PLACES-1. A child starts only after its reservation was read back as granted (R6). A further try
//     of the same call reserves under the same name, so the child counts once.
// CHILD-PLACES-2. A place comes back when the log has the end of the call. Without that, the place lapses
//     when no try of the call may run any more.

import { type CallEnding, deniedAs } from '../../contract/call/call-endings.ts'
import type { RoundId } from '../../contract/ids.ts'
import { limits } from '../../contract/limits.ts'
import type { TreeCaps } from '../../contract/messages.ts'
import type { PerformerContext } from '../../contract/performer.ts'
import { tenantOf } from '../../contract/tenant.ts'
import { noUsage } from '../../contract/turn/no-usage.ts'
import type { Milliseconds } from '../../lib/clock.ts'
import { tooDeep, treeUnreadable } from '../../model-texts/trees.ts'
import type { LedgerReader } from './ledger-reader.ts'
import { budgetsOfChild, treeReason, treeText } from './tree-budgets.ts'

/** `name`: of its call. `depth`: 1 below the root. `forMs`: the longest time until no try of its call runs. */
export type Child = {
  round: RoundId
  name: string
  tree: string
  depth: number
  caps: TreeCaps
  forMs: Milliseconds
}

export type ChildPlaces = {
  /** The denial of a child that a cap refuses. Undefined: the child has its place. */
  denialOf(child: Child): Promise<CallEnding | undefined>
  giveBack(child: Pick<Child, 'round' | 'name'>): Promise<void>
}

export function childPlaces(
  context: Pick<PerformerContext, 'budgets' | 'clock' | 'log'>,
  reader: LedgerReader,
): ChildPlaces {
  /** A client may send one answer twice at the same time. */
  const reserving = new Map<string, Promise<CallEnding | undefined>>()

  function ownOf({ round, name }: Pick<Child, 'round' | 'name'>) {
    const { conversation, turn, round: number } = round
    const tenant = tenantOf(conversation)
    return { tenant, conversation, turn, round: number, attempt: name }
  }

  async function reserve(child: Child): Promise<CallEnding | undefined> {
    const { caps, depth, tree, forMs } = child
    if (caps.depth !== null && depth > caps.depth)
      return deniedAs(tooDeep(caps.depth), `the cap tree.depth is reached: ${caps.depth}`)
    const budgets = budgetsOfChild(caps)
    if (budgets.length === 0) return undefined
    const own = ownOf(child)
    const amounts = { budgets, tree, children: 1, tokens: 0, usd: 0 }
    const expiresAt = context.clock.now() + forMs
    const decision = await reader.reserve(context, {
      type: 'budget-reserved',
      ...own,
      ...amounts,
      expiresAt,
    })
    if (decision?.kind === 'granted') return undefined
    if (decision?.kind === 'refused')
      return deniedAs(treeText(decision.hard), treeReason(decision.hard))
    await context.budgets.append(own.tenant, { type: 'budget-released', ...own }) // a grant may follow
    return unread(`the reservation was not read within ${limits.budgetReadMs} ms`)
  }

  return {
    denialOf(child) {
      const known = reserving.get(child.name)
      if (known !== undefined) return known
      const decided = reserve(child)
        .catch((error: unknown) => {
          context.log.warn({ err: error }, 'a child was denied: its tree cannot be read')
          return unread('the topic budgets cannot be used')
        })
        .finally(() => reserving.delete(child.name))
      reserving.set(child.name, decided)
      return decided
    },

    async giveBack(child) {
      const own = ownOf(child)
      const counts = {
        counted: 'usage',
        usage: noUsage,
        tokens: 0,
        usd: 0,
        prices: '',
        priced: false,
      } as const
      try {
        await context.budgets.append(own.tenant, { type: 'budget-settled', ...own, ...counts })
      } catch (error) {
        context.log.warn({ err: error }, 'a place of a child could not be given back; it lapses')
      }
    },
  }
}

function unread(why: string): CallEnding {
  return deniedAs(treeUnreadable, `the caps of the tree cannot be read: ${why}`)
}
