// Amounts of budgets and money as text. A page shows them too, so it imports types only.

import type { BudgetUnit } from '../../../shared/contract/messages.ts'
import type { Money } from '../../../shared/view/totals.ts'

export function shownAmount(amount: number, unit: BudgetUnit): string {
  return unit === 'tokens' ? `${amount} tokens` : usdText(amount)
}

/** `nano`: billionths. Four decimals, or as many as a smaller amount needs. */
export function usdText(nano: number): string {
  const isSmall = nano > 0 && nano < 1e5
  const text = (nano / 1e9).toFixed(isSmall ? 9 : 4)
  return `${isSmall ? text.replace(/0+$/, '') : text} USD`
}

/** `0.0123 USD`, `0.0123 USD, without 2 requests of unknown price`, `price unknown`. */
export function moneyText({ usd, requests, unpriced }: Money): string {
  if (requests === unpriced) return 'price unknown'
  if (unpriced === 0) return usdText(usd)
  return `${usdText(usd)}, without ${unpriced} ${unpriced === 1 ? 'request' : 'requests'} of unknown price`
}
