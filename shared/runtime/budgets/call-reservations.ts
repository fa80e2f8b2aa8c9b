// Reservations of the ledger for calls: the places of children, and the values of calls that must not run
// twice. Native calls and those of guests have them.
// A call starts only after its reservation was read back as granted (R6). A further
// try of the call reserves under the same name.
// A reservation that was not read in time is released: a grant may follow.
// Each try has a reservation to end, so two tries never share one. Repeats of a guest's answer do.

import type { RoundId } from '../../contract/ids.ts'
import { limits } from '../../contract/limits.ts'
import type { BudgetReserved } from '../../contract/messages.ts'
import type { PerformerContext } from '../../contract/performer.ts'
import { tenantOf } from '../../contract/tenant.ts'
import { noUsage } from '../../contract/turn/no-usage.ts'
import type { Milliseconds } from '../../lib/clock.ts'
import type { Decision } from './ledger.ts'
import type { LedgerReader } from './ledger-reader.ts'

/** `name`: of the reservation, the same in each try of its call. */
export type Reserving = { round: RoundId; name: string }

/** `forMs`: the longest time until no try of its call may run. */
export type Reserved = Reserving & { forMs: Milliseconds } & Partial<
    Pick<BudgetReserved, 'budgets' | 'tree' | 'children' | 'once'>
  >

/** `unread`: nobody knows the decision, so the call must not start. */
export type CallDecision = Decision | { kind: 'unread'; reason: string }

export type CallReservations = {
  /** Never rejects. */
  reserve(call: Reserved): Promise<CallDecision>
  /** `settled`: the call has run. `released`: it had no effect. Never rejects: a lost end expires. */
  end(call: Reserving, how: 'settled' | 'released'): Promise<void>
}

export function callReservations(
  context: Pick<PerformerContext, 'budgets' | 'clock' | 'log'>,
  reader: LedgerReader,
): CallReservations {
  function ownOf({ round: { conversation, turn, round }, name }: Reserving) {
    return { tenant: tenantOf(conversation), conversation, turn, round, attempt: name }
  }

  async function decisionOn({ round, name, forMs, ...fields }: Reserved): Promise<CallDecision> {
    const own = ownOf({ round, name })
    const decision = await reader.reserve(context, {
      type: 'budget-reserved',
      ...own,
      budgets: [],
      tree: '',
      children: 0,
      tokens: 0,
      usd: 0,
      once: null,
      ...fields,
      expiresAt: context.clock.now() + forMs,
    })
    if (decision !== undefined) return decision
    await context.budgets.append(own.tenant, { type: 'budget-released', ...own })
    return {
      kind: 'unread',
      reason: `the reservation was not read within ${limits.budgetReadMs} ms`,
    }
  }

  return {
    reserve(call) {
      return decisionOn(call).catch((error: unknown): CallDecision => {
        context.log.warn({ err: error }, 'a call was denied: its reservation cannot be made')
        return { kind: 'unread', reason: 'the topic budgets cannot be used' }
      })
    },

    async end(call, how) {
      const own = ownOf(call)
      const counts = {
        counted: 'usage',
        usage: noUsage,
        tokens: 0,
        usd: 0,
        prices: '',
        priced: false,
      } as const
      try {
        await context.budgets.append(
          own.tenant,
          how === 'released'
            ? { type: 'budget-released', ...own }
            : { type: 'budget-settled', ...own, ...counts },
        )
      } catch (error) {
        context.log.warn(
          { err: error },
          'the end of a reservation could not be written; it expires',
        )
      }
    },
  }
}

/** A client may send an answer twice at the same time: the calls then share a reservation, and an end. */
export function sharedByRepeats(reservations: CallReservations): CallReservations {
  const reserving = new Map<string, Promise<CallDecision>>()

  return {
    ...reservations,
    reserve(call) {
      const running = reserving.get(call.name)
      if (running !== undefined) return running
      const decided = reservations.reserve(call).finally(() => reserving.delete(call.name))
      reserving.set(call.name, decided)
      return decided
    },
  }
}
