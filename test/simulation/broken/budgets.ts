// A gateway that sees no hard amount in a reservation. All other parts are real.

import { decode, encode } from '../../../shared/codec/codec.ts'
import type { StoredRecord } from '../../../shared/contract/bus.ts'
import { realSystem, type System } from '../system.ts'

export const grantsEveryReservation: System = {
  ...realSystem,
  name: 'the gateway grants every reservation',
  bus: (bus) => ({
    ...bus,
    async *follow(range) {
      const isBudgets = range.topic.endsWith('budgets')
      for await (const records of bus.follow(range))
        yield isBudgets ? records.map(withoutAmounts) : records
    },
  }),
}

function withoutAmounts(record: StoredRecord): StoredRecord {
  const message = record.value === null ? undefined : decode(record.value)
  if (message?.type !== 'budget-reserved') return record
  const budgets = message.budgets.map((budget) => ({ ...budget, hard: null }))
  return { ...record, value: encode({ ...message, budgets }) }
}
