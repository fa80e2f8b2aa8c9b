// Reads the reservations of tenants, and reports the decision on those of this process.
// It decides by the records of the topic alone, so all processes decide the same.
// A reservation has the decision on its own record, by the offset. A record of another try
// of its call can be read meanwhile.

import type { Offset, StoredRecord } from '../../contract/bus.ts'
import { limits } from '../../contract/limits.ts'
import type { BudgetReserved } from '../../contract/messages.ts'
import {
  type BudgetContext,
  budgetRecord,
  type Log,
  type Membership,
  partitionFollowers,
} from './budget-followers.ts'
import {
  applyToLedger,
  type Decision,
  emptyLedger,
  type LedgerRecord,
  ledgerSince,
} from './ledger.ts'

export type LedgerReader = {
  /** Writes the reservation and reads it back. Undefined: it was not read in time. */
  reserve(context: BudgetContext, reservation: BudgetReserved): Promise<Decision | undefined>
  /** One for each assigned partition. After the last `leave` nothing is read. */
  join(): Membership
}

/** Called with each decision on a record of its attempt. */
type Waiting = (decision: Decision, offset: Offset) => void

/** One for a process. */
export function createLedgerReader(): LedgerReader {
  const waiting = new Map<string, Waiting>()
  const followers = partitionFollowers({
    since: ledgerSince,
    begin: emptyLedger,
    apply(ledger, records, { log }) {
      for (const record of records) {
        const message = ledgerRecord(record, log)
        if (message === undefined) continue
        const decision = applyToLedger(ledger, message, record.time)
        if (decision === undefined || message.type !== 'budget-reserved') continue
        waiting.get(message.attempt)?.(decision, record.offset)
      }
    },
  })

  return {
    async reserve(context, reservation) {
      const { tenant, attempt, children, once } = reservation
      // The attempt of a model request is random. Of its copies in the log only the first has a decision.
      const isRandom = children === 0 && once === null
      followers.follow(context, await context.budgets.partitionOf(tenant))
      const decided = Promise.withResolvers<Decision | undefined>()
      const earlier = new Map<Offset, Decision>()
      let own: Offset | undefined
      waiting.set(attempt, (decision, offset) => {
        if (isRandom || offset === own) decided.resolve(decision)
        else if (own === undefined) earlier.set(offset, decision)
      })
      let cancel = () => {}
      try {
        own = (await context.budgets.append(tenant, reservation)).offset
        const decision = earlier.get(own)
        if (decision !== undefined) decided.resolve(decision)
        cancel = context.clock.after(limits.budgetReadMs, () => decided.resolve(undefined))
        return await decided.promise
      } finally {
        cancel()
        waiting.delete(attempt)
      }
    },

    join: followers.join,
  }
}

/** Undefined: the record is of another fold, or none of a gateway. */
function ledgerRecord(record: StoredRecord, log: Log): LedgerRecord | undefined {
  const message = budgetRecord(record, log)
  switch (message?.type) {
    case 'budget-reserved':
    case 'budget-settled':
    case 'budget-released':
      return message
    default:
      return undefined
  }
}
