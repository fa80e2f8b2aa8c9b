// The caps of a tree as budgets of the ledger. So every process decides alike, and a cap is exact where
// many children start at once. Pure.

import { callOfConversation, type TurnId, turnKey } from '../../contract/ids.ts'
import type { BudgetInForce, BudgetUnit, BudgetUse, TreeCaps } from '../../contract/messages.ts'
import { tooManyAtOnce, tooManyInAll, usedUp } from '../../model-texts/trees.ts'

/** The name of a native turn's tree: its root is the turn that no call led to. */
export function treeNameOf({ conversation, turn }: TurnId): string {
  const caller = callOfConversation(conversation)
  return caller === undefined ? turnKey({ conversation, turn }) : treeNameOf(caller)
}

const units: Record<Exclude<keyof TreeCaps, 'depth'>, BudgetUnit> = {
  atOnce: 'running',
  children: 'children',
  rounds: 'rounds',
  tokens: 'tokens',
  usd: 'usd',
  wallMs: 'ms',
}

/** Those that a child needs. The depth is no budget. */
export function budgetsOfChild(caps: TreeCaps): BudgetInForce[] {
  return Object.entries(units).flatMap(([cap, unit]) => {
    const amount = caps[cap as keyof typeof units]
    if (amount === null) return []
    const hard = unit === 'usd' ? Math.round(amount * 1e9) : amount
    return [{ id: `tree.${cap}`, subject: '', window: 'tree' as const, unit, soft: null, hard }]
  })
}

/** Those that a model request needs. */
export function budgetsOfRequest(caps: TreeCaps | null): BudgetInForce[] {
  if (caps === null) return []
  return budgetsOfChild(caps).filter(({ unit }) => unit !== 'running' && unit !== 'children')
}

/** For people: `the cap tree.rounds of its agents is reached: 60 of 60 rounds`. */
export function treeReason({ budget, used }: BudgetUse): string {
  const { id, unit } = budget
  const reserved = unit === 'tokens' || unit === 'usd' ? ' are used or reserved' : ''
  return `the cap ${id} of its agents is reached: ${amountsOf({ budget, used })}${reserved}`
}

/** For the model. */
export function treeText({ budget, used }: BudgetUse): string {
  const hard = budget.hard ?? 0
  if (budget.unit === 'running') return tooManyAtOnce(hard)
  if (budget.unit === 'children') return tooManyInAll(hard)
  return usedUp(amountsOf({ budget, used }))
}

function amountsOf({ budget: { unit, hard }, used }: BudgetUse): string {
  const max = hard ?? 0
  switch (unit) {
    case 'usd':
      return `${(used / 1e9).toFixed(4)} of ${(max / 1e9).toFixed(4)} US dollars`
    case 'ms':
      return `${Math.round(used / 1000)} of ${Math.round(max / 1000)} seconds`
    case 'running':
    case 'children':
      return `${used} of ${max} children`
    default:
      return `${used} of ${max} ${unit}`
  }
}
