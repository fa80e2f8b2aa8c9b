// The partitions that this process reads now, with its position in each. Health and metrics read
// this list.

import type { StoredRecord } from '../../shared/contract/bus.ts'
import type { StageName } from '../../shared/contract/topology.ts'
import type { Clock, Milliseconds } from '../../shared/lib/clock.ts'
import type { MeasuredPartition } from '../../shared/runtime/instruments.ts'

/** A reader of partitions: a stage or a guard. */
export type ReaderName = StageName | `guard.${string}`

export function readerOfGuard(guard: string): ReaderName {
  return `guard.${guard}`
}

/** `position`: the next record to read; all records before it are acknowledged. */
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

/** Advances after these records: their outputs are acknowledged. */
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
