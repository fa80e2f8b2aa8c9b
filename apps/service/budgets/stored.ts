// The budgets in the table `policies`, and their use in the topic `budgets`.

import { batchesOf, firstOffsetSince } from '../../../shared/bus/range.ts'
import { decode } from '../../../shared/codec/codec.ts'
import type { Bus, StoredRecord } from '../../../shared/contract/bus.ts'
import type { Message, OperatorBudget } from '../../../shared/contract/messages.ts'
import { budgetKeyPrefix } from '../../../shared/contract/topology.ts'
import {
  type Account,
  applyToLedger,
  emptyLedger,
  lapse,
  ledgerSince,
} from '../../../shared/runtime/budgets/ledger.ts'

type Table = { bus: Pick<Bus, 'list'>; topicPrefix: string }

/** `budget` undefined: the record cannot be read. While it is there, no model request starts. */
export type StoredBudget = { id: string; budget: OperatorBudget | undefined }

/** In the order of their ids, as the table is at the call. */
export async function storedBudgets({ bus, topicPrefix }: Table): Promise<StoredBudget[]> {
  const records = await bus.list({
    ...{ topic: `${topicPrefix}policies`, partition: 0, prefix: budgetKeyPrefix },
    upToNow: true,
  })
  return records
    .map((record) => {
      const message = messageOf(record)
      const budget = message?.type === 'operator-budget' ? message : undefined
      return { id: record.key.slice(budgetKeyPrefix.length), budget }
    })
    .sort((a, b) => (a.id < b.id ? -1 : 1))
}

/** The accounts of all open windows. Empty if no reservation was made, or the log is older. */
export async function budgetAccounts({
  bus,
  topicPrefix,
}: {
  bus: Pick<Bus, 'ends' | 'read' | 'offsetSince' | 'clock'>
  topicPrefix: string
}): Promise<Account[]> {
  const topic = `${topicPrefix}budgets`
  const now = bus.clock.now()
  const accounts: Account[] = []
  for (const { partition, begin, end } of await bus.ends(topic)) {
    const range = { topic, partition, from: begin, to: end }
    const from = await firstOffsetSince(bus, range, ledgerSince(now))
    const ledger = emptyLedger()
    for await (const records of batchesOf(bus, { ...range, from }))
      for (const record of records) {
        const message = messageOf(record)
        if (message !== undefined && isOfLedger(message) && message.tenant === record.key)
          applyToLedger(ledger, message, record.time)
      }
    lapse(ledger, now)
    for (const account of ledger.accounts.values()) if (account.until > now) accounts.push(account)
  }
  return accounts
}

function isOfLedger(message: Message) {
  return (
    message.type === 'budget-reserved' ||
    message.type === 'budget-settled' ||
    message.type === 'budget-released'
  )
}

function messageOf({ value }: StoredRecord): Message | undefined {
  try {
    return value === null ? undefined : decode(value)
  } catch {
    return undefined
  }
}
