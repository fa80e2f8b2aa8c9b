// Folds a log again with all reducers, partition by partition. It only reads: its log has no write
// methods, and no import reaches a performer.

import { type AnyStage, reducers } from '../../services/reducers.ts'
import type { ConversationId } from '../../shared/contract/ids.ts'
import { partitionOf } from '../../shared/contract/partition.ts'
import type { Milliseconds } from '../../shared/lib/clock.ts'
import { beginTally, comparePartition, type Tally } from './compare.ts'
import { type Difference, timeOf } from './difference.ts'
import { type Period, type ReadLog, rangesOf } from './log-range.ts'

export type ReplayOptions = Period & {
  log: ReadLog
  /** Only of this one; default: all. */
  conversation?: ConversationId | undefined
  /**
   * Whether others may write the log while it is read; what is on its way is no difference then.
   * `now`: by the log's clock.
   */
  grows: boolean
  now: Milliseconds
  /** Default: all that there are. */
  stages?: readonly AnyStage[]
  progress?: { expect(records: number): void; read(records: number): void }
}

export type Replayed = {
  tally: Tally
  differences: number
  /** By the time of what led to it. */
  first: Difference | undefined
}

/** Errors: those of reading the log. */
export async function replayLog({
  log,
  conversation,
  progress,
  stages = Object.values(reducers),
  ...options
}: ReplayOptions): Promise<Replayed> {
  const tally = beginTally()
  let differences = 0
  let first: Difference | undefined
  const all = Array.from({ length: log.partitions }, (_, partition) => partition)
  const chosen = conversation === undefined ? all : [partitionOf(conversation, log.partitions)]
  const ranges = await rangesOf(log, options, chosen)
  for (const { topics } of ranges)
    progress?.expect(topics.reduce((sum, { from, seenTo }) => sum + seenTo - from, 0))
  for (const range of ranges)
    await comparePartition({
      ...{ log, range, stages, conversation, tally },
      ...{ grows: options.grows, now: options.now },
      differs(difference) {
        differences += 1
        if (first === undefined || timeOf(difference) < timeOf(first)) first = difference
      },
      read: (records) => progress?.read(records),
    })
  return { tally, differences, first: first && (await withInput(first, log)) }
}

/** The record that led to it is shown, if it is still there. */
async function withInput(difference: Difference, { bus }: ReadLog): Promise<Difference> {
  if (difference.inputRecord !== undefined) return difference
  const { topic, partition, offset } = difference.input
  const [record] = await bus.read({ topic, partition, from: offset, to: offset + 1, limit: 1 })
  return { ...difference, inputRecord: record }
}
