// Follows partitions of the topic `budgets` into folds, for all partitions of a process together.
// A partition is read after its first use only. After an error its fold begins anew.

import { decode } from '../../codec/codec.ts'
import type { StoredRecord } from '../../contract/bus.ts'
import { limits } from '../../contract/limits.ts'
import type { BudgetReleased, BudgetReserved, BudgetSettled } from '../../contract/messages.ts'
import type { PerformerContext } from '../../contract/performer.ts'
import type { Milliseconds } from '../../lib/clock.ts'
import type { LineRecord } from './request-line.ts'

export type BudgetContext = Pick<PerformerContext, 'budgets' | 'clock' | 'log'>
export type Log = BudgetContext['log']

/** One for each user in a process. After the last `leave` nothing is read. */
export type Membership = { leave(): void }

export type BudgetFold<State> = {
  /** The time from which a new fold reads. */
  since: (now: Milliseconds) => Milliseconds
  begin: () => State
  /** Applies a batch of one partition. */
  apply: (state: State, records: readonly StoredRecord[], context: BudgetContext) => void
}

export type Followers<State> = {
  /** The fold of a partition, which is read from now on. */
  follow(context: BudgetContext, partition: number): { state: State }
  join(): Membership
}

export function partitionFollowers<State>(fold: BudgetFold<State>): Followers<State> {
  const followers = new Map<number, { state: State; reading: AbortController }>()
  let members = 0

  async function read(context: BudgetContext, partition: number, signal: AbortSignal) {
    const { budgets, clock, log } = context
    while (!signal.aborted) {
      const follower = followers.get(partition)
      if (follower === undefined) return
      follower.state = fold.begin()
      try {
        const since = fold.since(clock.now())
        for await (const records of budgets.follow({ partition, since, signal })) {
          if (signal.aborted) return
          fold.apply(follower.state, records, context)
        }
      } catch (error) {
        if (signal.aborted) return
        log.error({ err: error }, 'cannot read the topic budgets')
      }
      await new Promise<void>((resolve) => clock.after(limits.guardFollowRetryMs, resolve))
    }
  }

  return {
    follow(context, partition) {
      const known = followers.get(partition)
      if (known !== undefined) return known
      const follower = { state: fold.begin(), reading: new AbortController() }
      followers.set(partition, follower)
      void read(context, partition, follower.reading.signal)
      return follower
    },

    join() {
      members += 1
      return {
        leave() {
          members -= 1
          if (members > 0) return
          for (const { reading } of followers.values()) reading.abort()
          followers.clear()
        },
      }
    },
  }
}

export type BudgetRecord = BudgetReserved | BudgetSettled | BudgetReleased | LineRecord

/** Undefined, with a warning: the record is none of a gateway. */
export function budgetRecord(
  { key, value, partition, offset, refused }: StoredRecord,
  log: Log,
): BudgetRecord | undefined {
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
      case 'slot-reserved':
      case 'slot-renewed':
      case 'slot-settled':
        return message.account === key ? message : ignore('its key is not its account')
      default:
        return ignore(`it is a ${message.type}`)
    }
  } catch (error) {
    return ignore(error instanceof Error ? error.message : String(error))
  }
}
