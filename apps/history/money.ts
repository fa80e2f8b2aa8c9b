// The money of conversations and turns, from settled reservations. A model request without a budget
// in money has none, and a bundle has none. Money is priced once, when it is settled.
// The newest `moneyRecordsMax` records of a partition count. Amounts of at most
// `moneyConversationsMax` conversations are kept.
// A record that was written twice counts once, by its attempt.

import { batchesOf } from '../../shared/bus/range.ts'
import { messageOf } from '../../shared/codec/message-of.ts'
import type { Bus, Offset } from '../../shared/contract/bus.ts'
import type { ConversationId } from '../../shared/contract/ids.ts'
import type { BudgetSettled } from '../../shared/contract/messages.ts'
import { partitionOf } from '../../shared/contract/partition.ts'
import { tenantOf } from '../../shared/contract/tenant.ts'
import { remember, touch } from '../../shared/lib/recency.ts'
import { addSettled, isOfMoney, type Money, noMoney } from '../../shared/view/totals.ts'

/** The money of conversations: records in each partition that count, the newest; conversations. */
const moneyRecordsMax = 200_000
const moneyConversationsMax = 100_000
/** Attempts that are kept to count each once. */
const moneyAttemptsMax = 10_000

export type MoneyLog = { bus: Pick<Bus, 'ends' | 'read'>; topicPrefix: string }

/** Of the tenant's key. Undefined: another record, or one that cannot be read. */
export function settledIn(key: string, value: Uint8Array | null): BudgetSettled | undefined {
  const message = messageOf(value)
  return isOfMoney(message) && message.tenant === key ? message : undefined
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
      const from = next.get(partition) ?? Math.max(begin, end - moneyRecordsMax)
      for await (const records of batchesOf(log.bus, { topic, partition, from, to: end }))
        for (const { key, value } of records) {
          const settled = settledIn(key, value)
          if (settled !== undefined) add(settled)
        }
      next.set(partition, end)
    }
  }

  function add(settled: BudgetSettled): void {
    const { conversation, attempt } = settled
    if (!remember(attempts, attempt, moneyAttemptsMax)) return
    const money = known.get(conversation) ?? noMoney()
    addSettled(money, settled)
    touch(known, conversation, money, moneyConversationsMax)
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
