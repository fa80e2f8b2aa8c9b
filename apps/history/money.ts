// The money of conversations and turns, from settled reservations. A model request without a budget
// in money has none, and a bundle has none. Money is priced once, when it is settled.
// MONEY-1. The newest `limits.moneyRecordsMax` records of a partition count. Amounts of at most
//     `limits.moneyConversationsMax` conversations are kept.
// MONEY-2. A record that was written twice counts once, by its attempt.

import { batchesOf } from '../../shared/bus/range.ts'
import { messageOf } from '../../shared/codec/message-of.ts'
import type { Bus, Offset } from '../../shared/contract/bus.ts'
import type { ConversationId } from '../../shared/contract/ids.ts'
import { limits } from '../../shared/contract/limits.ts'
import type { BudgetSettled } from '../../shared/contract/messages.ts'
import { partitionOf } from '../../shared/contract/partition.ts'
import { tenantOf } from '../../shared/contract/tenant.ts'
import type { Money } from '../terminal/text/money-text.ts'

export type MoneyLog = { bus: Pick<Bus, 'ends' | 'read'>; topicPrefix: string }

export function noMoney(): Money {
  return { usd: 0, requests: 0, unpriced: 0, prices: [] }
}

/** Changes `money` in place. */
export function addSettled(money: Money, { usd, prices }: BudgetSettled): void {
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

/**
 * Of the tenant's key. Undefined: another record, one that cannot be read, or a request under budgets
 * in tokens only.
 */
export function settledIn(key: string, value: Uint8Array | null): BudgetSettled | undefined {
  const message = messageOf(value)
  const isMoney = message?.type === 'budget-settled' && message.priced
  return isMoney && message.tenant === key ? message : undefined
}

/** Empty: the log is older than the topic, or it is a bundle. */
export function budgetEnds({ bus, topicPrefix }: MoneyLog) {
  return bus.ends(`${topicPrefix}budgets`).catch(() => [])
}

/** Reads only new records at a further call. */
export type MoneyReader = {
  /** A conversation without a settled request is missing. */
  of(conversations: readonly ConversationId[]): Promise<ReadonlyMap<ConversationId, Money>>
}

export function moneyReader(log: MoneyLog): MoneyReader {
  const topic = `${log.topicPrefix}budgets`
  const known = new Map<ConversationId, Money>()
  const attempts = new Set<string>()
  const next = new Map<number, Offset>()
  let reading: Promise<void> = Promise.resolve()

  async function readOn(tenants: ReadonlySet<string>): Promise<void> {
    const ends = await budgetEnds(log)
    const partitions = new Set([...tenants].map((tenant) => partitionOf(tenant, ends.length)))
    for (const { partition, begin, end } of ends) {
      if (!partitions.has(partition)) continue
      const from = next.get(partition) ?? Math.max(begin, end - limits.moneyRecordsMax)
      for await (const records of batchesOf(log.bus, { topic, partition, from, to: end }))
        for (const { key, value } of records) {
          const settled = settledIn(key, value)
          if (settled !== undefined) add(settled)
        }
      next.set(partition, end)
    }
  }

  /** Keeps MONEY-1 and MONEY-2. */
  function add(settled: BudgetSettled): void {
    const { conversation, attempt } = settled
    if (attempts.has(attempt)) return
    attempts.add(attempt)
    dropOldest(attempts, limits.moneyAttemptsMax)
    const money = known.get(conversation) ?? noMoney()
    addSettled(money, settled)
    known.delete(conversation)
    known.set(conversation, money)
    dropOldest(known, limits.moneyConversationsMax)
  }

  return {
    async of(conversations) {
      const tenants = new Set(conversations.map(tenantOf))
      reading = reading.catch(() => {}).then(() => readOn(tenants))
      await reading
      return new Map(
        conversations.flatMap((id) => {
          const money = known.get(id)
          return money === undefined ? [] : [[id, money] as const]
        }),
      )
    },
  }
}

function dropOldest<Key>(all: Set<Key> | Map<Key, unknown>, max: number): void {
  const [oldest] = all.keys()
  if (all.size > max && oldest !== undefined) all.delete(oldest)
}
