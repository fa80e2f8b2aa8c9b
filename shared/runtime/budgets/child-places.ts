// The places of children in their tree, as reservations of the ledger. A further try
// of the same call reserves under the same name, so the child counts once.
// A place comes back when the log has the end of the call. Without that, the place lapses
// when no try of the call may run any more.

import { type CallEnding, deniedAs } from '../../contract/call/call-endings.ts'
import type { TreeCaps } from '../../contract/messages.ts'
import { tooDeep, treeUnreadable } from '../../model-texts/trees.ts'
import type { CallReservations, Reserved, Reserving } from './call-reservations.ts'
import { budgetsOfChild, treeReason, treeText } from './tree-budgets.ts'

/** `name`: of its call. `depth`: 1 below the root. `forMs`: the longest time until no try of it runs. */
export type Child = Omit<Reserved, 'budgets' | 'children' | 'once' | 'tree'> & {
  tree: string
  depth: number
  caps: TreeCaps
}

export type ChildPlaces = {
  /** The denial of a child that a cap refuses. Undefined: the child has its place. */
  denialOf(child: Child): Promise<CallEnding | undefined>
  /** `isNew`: it never started, so it does not count in all. */
  giveBack(child: Reserving, isNew?: boolean): Promise<void>
}

export function childPlaces(reservations: CallReservations): ChildPlaces {
  return {
    async denialOf({ caps, depth, ...child }) {
      if (caps.depth !== null && depth > caps.depth)
        return deniedAs(tooDeep(caps.depth), `the cap tree.depth is reached: ${caps.depth}`)
      const budgets = budgetsOfChild(caps)
      if (budgets.length === 0) return undefined
      const decision = await reservations.reserve({ ...child, budgets, children: 1 })
      switch (decision.kind) {
        case 'granted':
          return undefined
        case 'refused':
          return deniedAs(treeText(decision.hard), treeReason(decision.hard))
        default: {
          const why = decision.kind === 'unread' ? decision.reason : 'another record has its name'
          return deniedAs(treeUnreadable, `the caps of the tree cannot be read: ${why}`)
        }
      }
    },

    giveBack: (child, isNew = false) => reservations.end(child, isNew ? 'released' : 'settled'),
  }
}
