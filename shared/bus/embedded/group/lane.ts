// One partition of a subscribed group, and the group as its lanes see it.

import type { Commit, Offset, PartitionReader } from '../../../contract/bus.ts'
import type { PartitionName } from '../log/log-partition.ts'

export type LaneOwner = {
  readonly group: string
  readonly topic: string
  /** The rank of the group: how many subscribed before it. */
  readonly rank: number
  isReading: boolean
  fail(error: unknown): void
}

/**
 * `from`: where its reader began. `next`: the offset to read next. `committed`: the newest durable
 * commit of its reader.
 */
export type Lane = PartitionName & {
  group: string
  owner: LaneOwner
  reader: PartitionReader
  from: Offset
  next: Offset
  committed: Commit | undefined
  phase: LanePhase
}

type LanePhase = { kind: 'idle' } | { kind: 'queued' } | { kind: 'stepping'; done: Promise<void> }

export const idle: LanePhase = { kind: 'idle' }

export function createLane(owner: LaneOwner, partition: number, reader: PartitionReader): Lane {
  const { group, topic } = owner
  return {
    topic,
    partition,
    group,
    owner,
    reader,
    from: reader.position,
    next: reader.position,
    committed: undefined,
    phase: idle,
  }
}
