// The budgets that concern a model request, from the table `policies`.

import type {
  BudgetInForce,
  OperatorPrices,
  TreeCaps,
} from '../../../../shared/contract/messages.ts'
import type { PolicyRecord } from '../../../../shared/contract/performer.ts'
import { tenantOf } from '../../../../shared/contract/tenant.ts'
import {
  budgetId,
  budgetKeyPrefix,
  eachName,
  pricesKey,
} from '../../../../shared/contract/topology.ts'
import { shortened } from '../../../../shared/lib/text-cut.ts'
import { budgetsOfRequest } from '../../../../shared/runtime/budgets/tree-budgets.ts'
import type { StopTarget, TreePlace } from '../../../../shared/runtime/settings/stops-in-force.ts'

/** `refusesUnpriced`: a budget in money refuses a model whose price is unknown. */
export type BudgetsInForce = {
  tenant: string
  budgets: BudgetInForce[]
  refusesUnpriced: boolean
  prices: OperatorPrices | undefined
}

/** A text: the reason why they cannot be known, so no model request may start (R6). */
export function budgetsInForce(
  records: readonly PolicyRecord[],
  { agent, conversation }: Omit<StopTarget, keyof TreePlace>,
): BudgetsInForce | string {
  const tenant = tenantOf(conversation)
  const names = { tenant: '', agent, conversation }
  const found: BudgetsInForce = { tenant, budgets: [], refusesUnpriced: false, prices: undefined }
  for (const { key, message } of records) {
    if (key === pricesKey) {
      if (message.type !== 'operator-prices')
        return `the prices in policies are a ${message.type}; set them with weir budget prices`
      found.prices = message
    }
    if (!key.startsWith(budgetKeyPrefix)) continue
    if (message.type !== 'operator-budget')
      return `the budget ${JSON.stringify(shortened(key, 80))} in policies is a ${message.type}; remove it with weir budget remove`
    const { scope, name, window, unit, soft, hard, unpriced } = message
    const subject = names[scope]
    if (message.tenant !== tenant && message.tenant !== eachName) continue
    if (name !== subject && name !== eachName) continue
    found.budgets.push({ id: budgetId(message), subject, window, unit, soft, hard })
    if (unit === 'usd' && unpriced === 'deny') found.refusesUnpriced = true
  }
  return found
}

/** With the caps of the tree that concern a model request. A cap in money refuses unknown prices. */
export function withTreeCaps(found: BudgetsInForce, caps: TreeCaps | null): BudgetsInForce {
  if (caps === null) return found
  return {
    ...found,
    budgets: [...found.budgets, ...budgetsOfRequest(caps)],
    refusesUnpriced: found.refusesUnpriced || caps.usd !== null,
  }
}
