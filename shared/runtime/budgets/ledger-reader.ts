// Reads the reservations of tenants, and reports the decision on those of this process.
// It decides by the records of the topic alone, so all processes decide the same.
// A reservation has the decision on its own record, by the offset. A record of another try
// of its call can be read meanwhile.

import type { Offset } from '../../contract/bus.ts'
import { limits } from '../../contract/limits.ts'
import type { BudgetReserved } from '../../contract/messages.ts'
import type { BudgetContext, BudgetFollower } from './budget-follower.ts'
import { applyToLedger, type Decision, emptyLedger, ledgerSince } from './ledger.ts'
import { isOfLine } from './request-line.ts'

export type LedgerReader = {
  /** Writes the reservation and reads it back. Undefined: it was not read in time. */
  reserve(context: BudgetContext, reservation: BudgetReserved): Promise<Decision | undefined>
}

/** Called with each decision on a record of its attempt. */
type Waiting = (decision: Decision, offset: Offset) => void

export function createLedgerReader(follower: BudgetFollower): LedgerReader {
  /** By attempt: two tries of a call may wait at the same time. */
  const waiting = new Map<string, Set<Waiting>>()
  const follow = follower.attach({
    since: ledgerSince,
    begin: emptyLedger,
    apply(ledger, { records }) {
      for (const { message, time, offset } of records) {
        if (isOfLine(message)) continue
        const decision = applyToLedger(ledger, message, time)
        if (decision === undefined || message.type !== 'budget-reserved') continue
        for (const decide of waiting.get(message.attempt) ?? []) decide(decision, offset)
      }
    },
  })

  return {
    async reserve(context, reservation) {
      const { tenant, attempt, children, once } = reservation
      // The attempt of a model request is random. Of its copies in the log only the first has a decision.
      const isRandom = children === 0 && once === null
      follow(context, await context.budgets.partitionOf(tenant))
      const decided = Promise.withResolvers<Decision | undefined>()
      const earlier = new Map<Offset, Decision>()
      let own: Offset | undefined
      const decide: Waiting = (decision, offset) => {
        if (isRandom || offset === own) decided.resolve(decision)
        else if (own === undefined) earlier.set(offset, decision)
      }
      const tries = waiting.get(attempt) ?? new Set()
      waiting.set(attempt, tries.add(decide))
      let cancel = () => {}
      try {
        own = (await context.budgets.append(tenant, reservation)).offset
        const decision = earlier.get(own)
        if (decision !== undefined) decided.resolve(decision)
        cancel = context.clock.after(limits.budgetReadMs, () => decided.resolve(undefined))
        return await decided.promise
      } finally {
        cancel()
        tries.delete(decide)
        if (tries.size === 0) waiting.delete(attempt)
      }
    },
  }
}
