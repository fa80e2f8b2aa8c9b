// The partitions that this process reads right now, and how far it is in each. What health and metrics look at.

import type { Clock, Milliseconds } from '../../../shared/clock.ts'
import type { MeasuredPartition } from '../../../shared/runtime/instruments.ts'

/** `position`: the next record to be read; what came before is acknowledged. */
export type ReadPartition = MeasuredPartition & {
  position: number
  readonly assignedAt: Milliseconds
  newestTime: Milliseconds | undefined
}

export type ReadPartitions = {
  readonly all: ReadonlySet<ReadPartition>
  add(partition: MeasuredPartition): ReadPartition
  remove(partition: ReadPartition): void
}

export function createReadPartitions(clock: Pick<Clock, 'now'>): ReadPartitions {
  const all = new Set<ReadPartition>()
  return {
    all,
    add(partition) {
      const read = { ...partition, position: partition.from, assignedAt: clock.now(), newestTime: undefined }
      all.add(read)
      return read
    },
    remove: (partition) => all.delete(partition),
  }
}
