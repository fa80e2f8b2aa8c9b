// The price of a model request: the operator's if there is one, otherwise the known one.
// An unknown price stays unknown. Nothing guesses one, and no rule rounds it to zero.
// Here: prices and their arithmetic. Not here: budgets (../performer/budgets), which reserve and
// settle amounts.

import type { OperatorPrices, Usage } from '../../../shared/contract/messages.ts'
import { knownUsd, type Price, type PricedModel } from './known-prices.ts'

/** Undefined: the price of the model is unknown. */
export type PriceOf = (model: PricedModel, usage: Usage) => Price | undefined

export function pricesWith(operator: OperatorPrices | undefined): PriceOf {
  return (model, usage) => {
    const own = operator?.prices.find(
      (price) => price.provider === model.provider && price.model === model.name,
    )
    if (operator === undefined || own === undefined) return knownUsd(model, usage)
    const perMillion =
      usage.inputTokens * own.inputTokens +
      usage.outputTokens * own.outputTokens +
      usage.cacheReadTokens * own.cacheReadTokens +
      usage.cacheWriteTokens * own.cacheWriteTokens
    return { usd: Math.ceil(perMillion / 1_000_000), version: operator.version }
  }
}
