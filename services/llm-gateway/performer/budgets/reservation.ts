// The reservation of a model request under budgets, and its settle or release.
// The model request starts only after its reservation was read back as granted (R6).
// An attempt without a settle counts in full. So only an answer that counts its
// input settles less. Only a refusal before any answer releases, and an attempt that never began.

import type { Agent } from '../../../../shared/agents/agents.ts'
import type { AttemptId } from '../../../../shared/contract/ids.ts'
import { limits } from '../../../../shared/contract/limits.ts'
import type {
  BudgetInForce,
  BudgetReserved,
  BudgetSettled,
  BudgetUse,
  Message,
  Usage,
} from '../../../../shared/contract/messages.ts'
import type { PerformerContext } from '../../../../shared/contract/performer.ts'
import type { Milliseconds } from '../../../../shared/lib/clock.ts'
import { shortened } from '../../../../shared/lib/text-cut.ts'
import type { LedgerReader } from '../../../../shared/runtime/budgets/ledger-reader.ts'
import { treeNameOf, treeReason } from '../../../../shared/runtime/budgets/tree-budgets.ts'
import { type Failed, failedBy, type ProviderRequest } from '../../../../shared/wire/exchange.ts'
import type { Price, PricedModel } from '../../prices/known-prices.ts'
import type { PriceOf } from '../../prices/price.ts'
import type { BudgetsInForce } from './in-force.ts'

export type Reservation = {
  kind: 'reserved'
  /** Counts the usage of the answer. If the provider counted none, the reserved amounts stay. */
  settle(usage: Usage): Promise<void>
  /** The provider refused the request before any answer. */
  release(): Promise<void>
}

/** `tree`: the name of the tree. Default: that of the native turn. */
type Common = {
  tree?: string
  reader: LedgerReader
  id: AttemptId
  inForce: BudgetsInForce
  expiresAt: Milliseconds
}

export type ReservationOptions = Common & {
  context: PerformerContext
  agent: Agent
  request: ProviderRequest
}

/**
 * `bound`: the most that the request can use. `reportReached` gets the soft budgets that this request
 * finds reached first.
 */
export type BoundedReservationOptions = Common & {
  context: Pick<PerformerContext, 'budgets' | 'clock' | 'log'>
  model: PricedModel
  bound: Usage
  reportReached: (soft: BudgetUse[]) => Promise<void>
}

/** A failure: the request must not start. */
export function reserve(options: ReservationOptions): Promise<Reservation | Failed> {
  const { context, agent, request, id, inForce } = options
  const own = { tenant: inForce.tenant, ...id }
  return reserveBound({
    ...options,
    model: agent.model,
    bound: boundOf(agent, request),
    reportReached: (soft) => reportReached(context, own, soft),
  })
}

/** A failure: the request must not start. */
export async function reserveBound(
  options: BoundedReservationOptions,
): Promise<Reservation | Failed> {
  const { context, reader, id, model, bound, inForce, expiresAt } = options
  const { tenant, budgets } = inForce
  const isPriced = budgets.some(({ unit }) => unit === 'usd')
  const priceOf = isPriced ? await pricesFor(inForce) : () => undefined
  const price = dearest(priceOf, model, bound)
  if (price === undefined && isPriced && inForce.refusesUnpriced)
    return overBudget(
      `the price of the model ${JSON.stringify(model.name)} is unknown, and a budget in money refuses such models; set it with weir budget prices`,
    )
  const own = { tenant, ...id }
  const reservation: BudgetReserved = {
    type: 'budget-reserved',
    ...own,
    budgets,
    tree: budgets.some(({ window }) => window === 'tree') ? (options.tree ?? treeNameOf(id)) : '',
    children: 0,
    once: null,
    expiresAt,
    tokens: tokensOf(bound),
    usd: price?.usd ?? null,
  }
  const release = () => write(context, tenant, { type: 'budget-released', ...own })
  const decision = await reader.reserve(context, reservation)
  if (decision === undefined || !('soft' in decision)) {
    void release() // it may be granted later
    const reason = `the reservation was not read within ${limits.budgetReadMs} ms`
    return failedBy('budget.unreadable', 'transient', reason)
  }
  for (const { budget, used } of decision.soft)
    context.log.warn({ tenant, budget: budget.id, used }, 'a soft budget is reached')
  if (decision.soft.length > 0) await options.reportReached(decision.soft)
  if (decision.kind === 'refused') return overBudget(reachedReason(decision.hard))

  return {
    kind: 'reserved',
    async settle(usage) {
      const isCounted = tokensOf({ ...usage, outputTokens: 0 }) > 0 // a request has some input
      const used = isCounted ? usage : bound
      const cost = isCounted ? priceOf(model, used) : price
      const settled: BudgetSettled = {
        type: 'budget-settled',
        ...own,
        counted: isCounted ? 'usage' : 'bound',
        usage,
        tokens: tokensOf(used),
        usd: cost?.usd ?? null,
        prices: cost?.version ?? '',
        priced: isPriced,
      }
      await write(context, tenant, settled)
    },
    release,
  }
}

/** A refusal without any answer. A cut or stalled answer may have been paid for. */
export function usedNothing({ code }: Failed, parts: number): boolean {
  return parts === 0 && (code === 'provider.refused' || code === 'provider.unavailable')
}

/** For people: `the budget acme/tenant/day/usd is reached: 2.01 of 2 USD`. */
function reachedReason({ budget, used }: BudgetUse): string {
  if (budget.window === 'tree') return treeReason({ budget, used })
  return `the budget ${budget.id} is reached: ${shown(used, budget)} of ${shown(budget.hard ?? 0, budget)} are used or reserved`
}

function shown(amount: number, { unit }: BudgetInForce): string {
  return unit === 'tokens' ? `${amount} tokens` : `${(amount / 1e9).toFixed(4)} USD`
}

function overBudget(reason: string): Failed {
  return failedBy('budget.reached', 'budget', shortened(reason, limits.reasonBytesMax))
}

/** Loaded with the first budget in money: the package with the prices has 0.8 MB. */
async function pricesFor({ prices }: BudgetsInForce): Promise<PriceOf> {
  const { pricesWith } = await import('../../prices/price.ts')
  return pricesWith(prices)
}

/** The cache can make a token dearer than input. */
function dearest(priceOf: PriceOf, model: PricedModel, bound: Usage): Price | undefined {
  const plain = priceOf(model, bound)
  const written = priceOf(model, { ...bound, inputTokens: 0, cacheWriteTokens: bound.inputTokens })
  return plain && written && (written.usd > plain.usd ? written : plain)
}

/** A token has at least two bytes in nearly all texts. Images and files have an amount for each. */
function boundOf(agent: Agent, request: ProviderRequest): Usage {
  const { contents, ...texts } = request
  const bytes = Buffer.byteLength(JSON.stringify([agent.system, texts]))
  const inputTokens = Math.ceil(bytes / 2) + (contents?.size ?? 0) * contentTokens
  const outputTokens = agent.model.maxOutputTokens
  return { inputTokens, outputTokens, cacheReadTokens: 0, cacheWriteTokens: 0 }
}

/** The tokens that an image or a file counts. */
export const contentTokens = 5000

export function tokensOf(usage: Usage): number {
  const { inputTokens, outputTokens, cacheReadTokens, cacheWriteTokens } = usage
  return inputTokens + outputTokens + cacheReadTokens + cacheWriteTokens
}

/** A lost record counts in full, so the attempt continues. */
async function write(
  { budgets, log }: Pick<PerformerContext, 'budgets' | 'log'>,
  tenant: string,
  message: Message,
): Promise<void> {
  try {
    await budgets.append(tenant, message)
  } catch (error) {
    log.warn(
      { err: error },
      `a ${message.type} could not be written; its reservation counts in full`,
    )
  }
}

async function reportReached(
  context: PerformerContext,
  { tenant, conversation, turn, round }: AttemptId & { tenant: string },
  soft: BudgetUse[],
): Promise<void> {
  const reached = soft.map(
    ({ budget, used }) =>
      ({ type: 'budget-reached', conversation, turn, round, tenant, budget, used }) as const,
  )
  await context.write('activity', reached)
}
