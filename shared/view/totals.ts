// Sums of several values of a view. Pure.

import type { BudgetSettled, Message, Usage } from '../contract/messages.ts'

/** Tokens that the model read, with cached ones. */
export function inputTokensOf(usage: Usage): number {
  return usage.inputTokens + usage.cacheReadTokens + usage.cacheWriteTokens
}

/** All tokens, with cached ones. */
export function tokensOf(usage: Usage): number {
  return inputTokensOf(usage) + usage.outputTokens
}

/**
 * The money of settled model requests. `usd`: billionths of a US dollar. `unpriced`: those of the
 * requests whose price was unknown, which `usd` does not have. `prices`: the versions of the prices.
 */
export type Money = { usd: number; requests: number; unpriced: number; prices: string[] }

export function noMoney(): Money {
  return { usd: 0, requests: 0, unpriced: 0, prices: [] }
}

/** Whether it settles a request under a budget in money. Others are under budgets in tokens only. */
export function isOfMoney(message: Message | undefined): message is BudgetSettled {
  return message?.type === 'budget-settled' && message.priced
}

/** Billionths of a US dollar, never negative. Null: the price is unknown. */
export function usdOf({ usd }: BudgetSettled): number | null {
  return usd === null ? null : Math.max(0, usd)
}

/** Changes `money` in place. */
export function addSettled(money: Money, settled: BudgetSettled): void {
  const { prices } = settled
  const usd = usdOf(settled)
  money.requests += 1
  money.usd += usd ?? 0
  if (usd === null) money.unpriced += 1
  if (prices !== '' && !money.prices.includes(prices)) money.prices.push(prices)
}

/** Null: no model request was under a budget in money. */
export function sumOfMoney(all: readonly Money[]): Money | null {
  if (all.length === 0) return null
  return {
    usd: all.reduce((sum, { usd }) => sum + usd, 0),
    requests: all.reduce((sum, { requests }) => sum + requests, 0),
    unpriced: all.reduce((sum, { unpriced }) => sum + unpriced, 0),
    prices: [...new Set(all.flatMap(({ prices }) => prices))],
  }
}
