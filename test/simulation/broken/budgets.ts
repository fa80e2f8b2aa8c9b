// Processes that read the reservations of budgets wrongly. All other parts are real.

import { decode, encode } from '../../../shared/codec/codec.ts'
import type { StoredRecord } from '../../../shared/contract/bus.ts'
import type { BudgetReserved } from '../../../shared/contract/messages.ts'
import { realSystem, type System } from '../system.ts'

export const grantsEveryReservation = reading(
  'the gateway grants every reservation',
  ({ budgets }) => ({ budgets: budgets.map((budget) => ({ ...budget, hard: null })) }),
)

export const findsNoValues = reading(
  'the executor finds the values of no other call',
  ({ once, attempt }) => ({ once: once && { ...once, hash: attempt } }),
)

function reading(
  name: string,
  change: (reserved: BudgetReserved) => Partial<BudgetReserved>,
): System {
  function changed(record: StoredRecord): StoredRecord {
    const message = record.value === null ? undefined : decode(record.value)
    if (message?.type !== 'budget-reserved') return record
    return { ...record, value: encode({ ...message, ...change(message) }) }
  }
  return {
    ...realSystem,
    name,
    bus: (bus) => ({
      ...bus,
      async *follow(range) {
        const isBudgets = range.topic.endsWith('budgets')
        for await (const records of bus.follow(range))
          yield isBudgets ? records.map(changed) : records
      },
    }),
  }
}
