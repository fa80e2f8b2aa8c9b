// The partitions that this process reads right now, and how far it is in each. What health and
// metrics look at.

import type { StoredRecord } from '../../shared/contract/bus.ts'
import type { StageName } from '../../shared/contract/topology.ts'
import type { Clock, Milliseconds } from '../../shared/lib/clock.ts'
import type { MeasuredPartition } from '../../shared/runtime/instruments.ts'

/** Who reads partitions: a stage, or a guard. */
export type ReaderName = StageName | `guard.${string}`

export function readerOfGuard(guard: string): ReaderName {
  return `guard.${guard}`
}

/** `position`: the next record to be read; what came before is acknowledged. */
export type ReadPartition = Omit<MeasuredPartition, 'stage'> & {
  readonly stage: ReaderName
  position: number
  readonly assignedAt: Milliseconds
  newestTime: Milliseconds | undefined
}

export type ReadPartitions = {
  readonly all: ReadonlySet<ReadPartition>
  add(partition: Omit<MeasuredPartition, 'stage'> & { stage: ReaderName }): ReadPartition
  remove(partition: ReadPartition): void
}

/** These were read, and what they led to is acknowledged. */
export function readOn(partition: ReadPartition, records: readonly StoredRecord[]): void {
  const newest = records.at(-1)
  if (newest === undefined) return
  partition.position = newest.offset + 1
  partition.newestTime = newest.time
}

export function createReadPartitions(clock: Pick<Clock, 'now'>): ReadPartitions {
  const all = new Set<ReadPartition>()
  return {
    all,
    add(partition) {
      const read = {
        ...partition,
        position: partition.from,
        assignedAt: clock.now(),
        newestTime: undefined,
      }
      all.add(read)
      return read
    },
    remove: (partition) => all.delete(partition),
  }
}
