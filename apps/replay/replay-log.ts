// Folds a log again with all reducers, partition by partition. It only reads: its log has no write
// methods, and no import reaches a performer.

import { type AnyStage, reducers } from '../../services/reducers.ts'
import type { ConversationId } from '../../shared/contract/ids.ts'
import type { Milliseconds } from '../../shared/lib/clock.ts'
import { beginTally, comparePartition, type Tally } from './compare.ts'
import { type Difference, timeOf } from './difference.ts'
import { type Period, partitionsOf, type ReadLog, rangesOf } from './log-range.ts'

export type ReplayOptions = Period & {
  log: ReadLog
  /** Default: all conversations. */
  conversations?: ReadonlySet<ConversationId> | undefined
  /**
   * Whether others may write the log while it is read. Records on their way are then no difference.
   * `now`: by the log's clock.
   */
  grows: boolean
  now: Milliseconds
  /** Default: all stages. */
  stages?: readonly AnyStage[]
  progress?: { expect(records: number): void; read(records: number): void }
}

export type Replayed = {
  tally: Tally
  differences: number
  /** In the order of the inputs' times. */
  first: Difference | undefined
}

/** Throws the errors of reading the log. */
export async function replayLog({
  log,
  conversations,
  progress,
  stages = Object.values(reducers),
  ...options
}: ReplayOptions): Promise<Replayed> {
  const tally = beginTally()
  let differences = 0
  let first: Difference | undefined
  const ranges = await rangesOf(log, options, partitionsOf(log, conversations))
  for (const { topics } of ranges)
    progress?.expect(topics.reduce((sum, { from, seenTo }) => sum + seenTo - from, 0))
  for (const range of ranges)
    await comparePartition({
      log,
      range,
      stages,
      conversations,
      tally,
      grows: options.grows,
      now: options.now,
      differs(difference) {
        differences += 1
        if (first === undefined || timeOf(difference) < timeOf(first)) first = difference
      },
      read: (records) => progress?.read(records),
    })
  return { tally, differences, first: first && (await withInput(first, log)) }
}

/** Shows the input record, if it is still there. */
async function withInput(difference: Difference, { bus }: ReadLog): Promise<Difference> {
  if (difference.inputRecord !== undefined) return difference
  const { topic, partition, offset } = difference.input
  const [record] = await bus.read({ topic, partition, from: offset, to: offset + 1, limit: 1 })
  return { ...difference, inputRecord: record }
}
