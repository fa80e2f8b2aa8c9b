// Reads the reservations of tenants, and reports the decision on those of this process.
// LEDGER-READER-1. It decides by the records of the topic alone, so all processes decide the same.
// LEDGER-READER-2. It reads a partition only after the first reservation in it. Without a budget it
//     reads nothing.

import { decode } from '../../codec/codec.ts'
import type { StoredRecord } from '../../contract/bus.ts'
import { limits } from '../../contract/limits.ts'
import type { BudgetReserved } from '../../contract/messages.ts'
import type { PerformerContext } from '../../contract/performer.ts'
import {
  applyToLedger,
  type Decision,
  emptyLedger,
  type LedgerRecord,
  ledgerSince,
} from './ledger.ts'

type Context = Pick<PerformerContext, 'budgets' | 'clock' | 'log'>

export type LedgerReader = {
  /** Writes the reservation and reads it back. Undefined: it was not read in time. */
  reserve(context: Context, reservation: BudgetReserved): Promise<Decision | undefined>
  /** One for each assigned partition. After the last `leave` nothing is read. */
  join(): { leave(): void }
}

/** One for a process. */
export function createLedgerReader(): LedgerReader {
  const followers = new Map<number, AbortController>()
  const waiting = new Map<string, (decision: Decision) => void>()
  let members = 0

  async function follow(context: Context, partition: number, signal: AbortSignal): Promise<void> {
    const { budgets, clock, log } = context
    while (!signal.aborted) {
      const ledger = emptyLedger()
      try {
        const since = ledgerSince(clock.now())
        for await (const records of budgets.follow({ partition, since, signal })) {
          if (signal.aborted) return
          for (const record of records) {
            const message = ledgerRecord(record, log)
            if (message === undefined) continue
            const decision = applyToLedger(ledger, message, record.time)
            if (decision !== undefined) waiting.get(message.attempt)?.(decision)
          }
        }
      } catch (error) {
        if (signal.aborted) return
        log.error({ err: error }, 'cannot read the topic budgets')
      }
      await new Promise<void>((resolve) => clock.after(limits.guardFollowRetryMs, resolve))
    }
  }

  return {
    async reserve(context, reservation) {
      const { tenant, attempt } = reservation
      const partition = await context.budgets.partitionOf(tenant)
      if (!followers.has(partition)) {
        const reading = new AbortController()
        followers.set(partition, reading)
        void follow(context, partition, reading.signal)
      }
      const decided = Promise.withResolvers<Decision | undefined>()
      waiting.set(attempt, decided.resolve)
      let cancel = () => {}
      try {
        await context.budgets.append(tenant, reservation)
        cancel = context.clock.after(limits.budgetReadMs, () => decided.resolve(undefined))
        return await decided.promise
      } finally {
        cancel()
        waiting.delete(attempt)
      }
    },

    join() {
      members += 1
      return {
        leave() {
          members -= 1
          if (members > 0) return
          for (const reading of followers.values()) reading.abort()
          followers.clear()
        },
      }
    },
  }
}

/** Undefined, with a warning: the record is none of a gateway. */
function ledgerRecord(
  { key, value, partition, offset, refused }: StoredRecord,
  log: Context['log'],
): LedgerRecord | undefined {
  const ignore = (why: string): undefined =>
    void log.warn({ partition, offset }, `ignored a record of budgets: ${why}`)
  if (value === null || refused !== undefined) return ignore(refused ?? 'it is empty')
  try {
    const message = decode(value)
    switch (message.type) {
      case 'budget-reserved':
      case 'budget-settled':
      case 'budget-released':
        return message.tenant === key ? message : ignore('its key is not its tenant')
      default:
        return ignore(`it is a ${message.type}`)
    }
  } catch (error) {
    return ignore(error instanceof Error ? error.message : String(error))
  }
}
