// The instruments of the runtime. A narrow type, so the runtime knows no metrics library. Without
// instruments the runtime calls and keeps nothing. An implementation must not throw and must return
// at once, because it is called between the records.

import type { Offset, RecordToAppend, StoredRecord } from '../contract/bus.ts'
import type { Message } from '../contract/messages.ts'
import type { Output } from '../contract/stage.ts'
import type { StageName } from '../contract/topology.ts'
import type { CountedSlots } from '../lib/slots.ts'
import type { Unit } from './fold.ts'

/** One partition of a stage's inbox, from assignment to loss. The values are always current. */
export type MeasuredPartition = {
  readonly stage: StageName
  /** With the deployment's prefix. */
  readonly topic: string
  readonly partition: number
  /** The offset at which reading begins. */
  readonly from: Offset
  /**
   * The first record that was not done at the assignment. Records before it are only folded again.
   */
  readonly done: Offset
  /** The log's end at the assignment. */
  readonly end: Offset
  /** Open units, the one whose first record is oldest first. */
  readonly units: ReadonlyMap<string, Pick<Unit<unknown>, 'since'>>
  /** The reader has reached the log's end at the assignment, and acts (R4). */
  hasCaughtUp(): boolean
}

export type PartitionInstrument = {
  /**
   * The next records that were read. Their outputs are acknowledged. `outputs` and `written` go in
   * pairs. Records that were done before the assignment have none. `repeats`: the read records that
   * were dropped, because their writer's mark was not below them; absent: 0.
   */
  acknowledged(step: {
    read: readonly StoredRecord[]
    repeats?: number
    outputs: readonly Output[]
    written: readonly RecordToAppend[]
  }): void
  closed(): void
}

export type Instruments = {
  assigned(partition: MeasuredPartition): PartitionInstrument
  /**
   * Acknowledged records that a stage's performer or its ticks wrote. `messages` and `written` go
   * in pairs.
   */
  observed(
    stage: StageName,
    observations: { messages: readonly Message[]; written: readonly RecordToAppend[] },
  ): void
  /** The slots for the work of a stage's performer in this process. Called once, at its start. */
  slots?(stage: StageName, slots: Pick<CountedSlots, 'count' | 'busy'>): void
}
