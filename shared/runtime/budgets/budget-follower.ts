// Follows partitions of the topic `budgets` into folds, for all stages of a process together. A record is read
// and decoded once for all of them.
// A partition is read after its first use only. After an error its fold begins anew.

import { decode } from '../../codec/codec.ts'
import type { Offset, StoredRecord } from '../../contract/bus.ts'
import { limits } from '../../contract/limits.ts'
import type { BudgetReleased, BudgetReserved, BudgetSettled } from '../../contract/messages.ts'
import type { PerformerContext } from '../../contract/performer.ts'
import type { Milliseconds } from '../../lib/clock.ts'
import type { LineRecord } from './request-line.ts'

export type BudgetContext = Pick<PerformerContext, 'budgets' | 'clock' | 'log'>
type Log = BudgetContext['log']

/** One for each user in a process. After the last `leave` nothing is read. */
export type Membership = { leave(): void }

/** `end`: of the last record, which perhaps counts for nothing. */
export type BudgetBatch = {
  partition: number
  end: Offset
  records: readonly { message: BudgetRecord; time: Milliseconds; offset: Offset }[]
}

export type BudgetFold<State> = {
  /** The time from which a new fold reads. */
  since: (now: Milliseconds) => Milliseconds
  begin: () => State
  /** Applies a batch of one partition. */
  apply: (state: State, batch: BudgetBatch, context: BudgetContext) => void
}

/** One for a process: all folds read a partition together. */
export type BudgetFollower = {
  /** Returns the way to a fold of a partition, which is read from its first use on. */
  attach<State>(
    fold: BudgetFold<State>,
  ): (context: BudgetContext, partition: number) => { readonly state: State }
  join(): Membership
}

/** A fold with its state in one partition. */
type Follower = {
  since: BudgetFold<unknown>['since']
  begin(): void
  apply(batch: BudgetBatch, context: BudgetContext): void
}

type Following = { followers: Set<Follower>; reading: AbortController }

export function budgetFollower(): BudgetFollower {
  const partitions = new Map<number, Following>()
  let members = 0

  async function read(context: BudgetContext, partition: number, following: Following) {
    const { budgets, clock, log } = context
    const followers = [...following.followers]
    const { signal } = following.reading
    while (!signal.aborted) {
      for (const follower of followers) follower.begin()
      try {
        const since = Math.min(...followers.map((follower) => follower.since(clock.now())))
        for await (const stored of budgets.follow({ partition, since, signal })) {
          if (signal.aborted) return
          const batch = batchOf(stored, partition, log)
          for (const follower of followers) follower.apply(batch, context)
        }
      } catch (error) {
        if (signal.aborted) return
        log.error({ err: error }, 'cannot read the topic budgets')
      }
      await new Promise<void>((resolve) => clock.after(limits.guardFollowRetryMs, resolve))
    }
  }

  return {
    attach(fold) {
      const states = new WeakMap<Following['followers'], { state: ReturnType<typeof fold.begin> }>()
      return (context, partition) => {
        const following = partitions.get(partition)
        const known = following && states.get(following.followers)
        if (known !== undefined) return known
        following?.reading.abort() // the further fold may need older records
        const own = { state: fold.begin() }
        const followers = following?.followers ?? new Set()
        followers.add({
          since: fold.since,
          begin() {
            own.state = fold.begin()
          },
          apply: (batch, by) => fold.apply(own.state, batch, by),
        })
        states.set(followers, own)
        const next = { followers, reading: new AbortController() }
        partitions.set(partition, next)
        void read(context, partition, next)
        return own
      }
    },

    join() {
      members += 1
      return {
        leave() {
          members -= 1
          if (members > 0) return
          for (const { reading } of partitions.values()) reading.abort()
          partitions.clear()
        },
      }
    },
  }
}

function batchOf(stored: readonly StoredRecord[], partition: number, log: Log): BudgetBatch {
  const records = stored.flatMap((record) => {
    const message = budgetRecord(record, log)
    return message === undefined ? [] : [{ message, time: record.time, offset: record.offset }]
  })
  return { partition, end: stored.at(-1)?.offset ?? 0, records }
}

export type BudgetRecord = BudgetReserved | BudgetSettled | BudgetReleased | LineRecord

/** Undefined, with a warning: the record is none of a gateway. */
function budgetRecord(
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
