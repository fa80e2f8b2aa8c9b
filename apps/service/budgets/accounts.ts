// The use of budgets, in the topic `budgets`.

import { batchesOf, firstOffsetSince } from '../../../shared/bus/range.ts'
import { messageOf } from '../../../shared/codec/message-of.ts'
import type { Bus, Offset } from '../../../shared/contract/bus.ts'
import type { Message } from '../../../shared/contract/messages.ts'
import {
  type Account,
  applyToLedger,
  emptyLedger,
  type Ledger,
  lapse,
  ledgerSince,
} from '../../../shared/runtime/budgets/ledger.ts'

type AccountsLog = {
  bus: Pick<Bus, 'ends' | 'read' | 'offsetSince' | 'clock'>
  topicPrefix: string
}

/** The accounts of all open windows. Empty if no reservation was made, or the log is older. */
export function budgetAccounts(log: AccountsLog): Promise<Account[]> {
  return accountsReader(log)()
}

/** As budgetAccounts. A further call reads only new records. */
export function accountsReader({ bus, topicPrefix }: AccountsLog): () => Promise<Account[]> {
  const topic = `${topicPrefix}budgets`
  const ledgers = new Map<number, { ledger: Ledger; next: Offset }>()
  let reading: Promise<Account[]> = Promise.resolve([])

  async function readOn(): Promise<Account[]> {
    const now = bus.clock.now()
    const accounts: Account[] = []
    for (const { partition, begin, end } of await bus.ends(topic)) {
      const range = { topic, partition, from: begin, to: end }
      const known = ledgers.get(partition)
      const from = known?.next ?? (await firstOffsetSince(bus, range, ledgerSince(now)))
      const ledger = known?.ledger ?? emptyLedger()
      ledgers.delete(partition) // a read that fails in the middle begins again
      for await (const records of batchesOf(bus, { ...range, from }))
        for (const record of records) {
          const message = messageOf(record.value)
          if (message !== undefined && isOfLedger(message) && message.tenant === record.key)
            applyToLedger(ledger, message, record.time)
        }
      ledgers.set(partition, { ledger, next: Math.max(from, end) })
      lapse(ledger, now)
      for (const account of ledger.accounts.values())
        if (account.until > now) accounts.push({ ...account })
    }
    return accounts
  }

  return () => {
    reading = reading.catch(() => []).then(readOn)
    return reading
  }
}

function isOfLedger(message: Message) {
  return (
    message.type === 'budget-reserved' ||
    message.type === 'budget-settled' ||
    message.type === 'budget-released'
  )
}
