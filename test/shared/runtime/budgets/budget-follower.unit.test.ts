// Two folds of one partition of `budgets` in a process.

import { expect, it } from '@jest/globals'
import { fakeClock } from '../../../../client/testing/fake-clock.ts'
import { encode } from '../../../../shared/codec/codec.ts'
import type { StoredRecord } from '../../../../shared/contract/bus.ts'
import { createLog } from '../../../../shared/lib/log/log.ts'
import {
  type BudgetBatch,
  type BudgetContext,
  budgetFollower,
} from '../../../../shared/runtime/budgets/budget-follower.ts'
import { settled } from '../../../services/executor/performer-world.ts'

const message = { type: 'slot-renewed', account: 'a', attempt: 'x' } as const
const record: StoredRecord = {
  topic: 'budgets',
  key: 'a',
  value: encode(message),
  partition: 3,
  offset: 7,
  time: 50,
}

function world() {
  const reads: { partition: number; since: number; signal: AbortSignal }[] = []
  const budgets = {
    async *follow(of: (typeof reads)[number]) {
      reads.push(of)
      yield [record, { ...record, key: 'b', offset: 8 }]
      await new Promise((resolve) => of.signal.addEventListener('abort', resolve))
    },
  }
  const context = {
    budgets,
    clock: fakeClock('2026-11-30T12:00:00Z'),
    log: createLog({ level: 'silent' }),
  }
  const follower = budgetFollower()
  const foldFrom = (since: number) =>
    follower.attach<BudgetBatch[]>({
      since: () => since,
      begin: () => [],
      apply: (state, batch) => state.push(batch),
    })
  return { reads, follower, foldFrom, context: context as unknown as BudgetContext }
}

const batch = { partition: 3, end: 8, records: [{ message, time: 50, offset: 7 }] }

it('reads a partition once for both folds, from the earlier time on', async () => {
  const { reads, follower, foldFrom, context } = world()
  const member = follower.join()
  const [late, early] = [foldFrom(40), foldFrom(10)]
  const first = late(context, 3)
  await settled()
  const second = early(context, 3)
  await settled()
  expect(reads.map(({ since, signal }) => [since, signal.aborted])).toEqual([
    [40, true],
    [10, false],
  ])
  expect([first.state, second.state]).toEqual([[batch], [batch]])
  expect([late(context, 3), early(context, 3)]).toEqual([first, second])
  member.leave()
  await settled()
  expect(reads).toHaveLength(2)
  expect(reads.every(({ signal }) => signal.aborted)).toBe(true)
})

it('reads only the partitions that a fold uses', async () => {
  const { reads, follower, foldFrom, context } = world()
  const member = follower.join()
  foldFrom(10)
  foldFrom(40)(context, 3)
  await settled()
  expect(reads).toMatchObject([{ partition: 3, since: 40 }])
  member.leave()
})
