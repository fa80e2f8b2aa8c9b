// Amounts of budgets as text.

import type { BudgetUnit } from '../../shared/contract/messages.ts'

export function shownAmount(amount: number, unit: BudgetUnit): string {
  return unit === 'tokens' ? `${amount} tokens` : usdText(amount)
}

/** `nano`: billionths. Four decimals, so a single request of a cheap model is visible. */
export function usdText(nano: number): string {
  return `${(nano / 1e9).toFixed(4)} USD`
}
