// What the runtime tells whoever measures it. A narrow type, so that the runtime knows of no
// metrics library; without instruments nothing is called and nothing is kept, so a Weir that is not
// measured pays nothing. Whoever implements it must not throw and must return at once: it is called
// between the records.

import type { Offset, RecordToAppend, StoredRecord } from '../contract/bus.ts'
import type { Message } from '../contract/messages.ts'
import type { Output } from '../contract/stage.ts'
import type { StageName } from '../contract/topology.ts'
import type { Unit } from './fold.ts'

/**
 * One partition of a stage's inbox, from assignment to loss. All of it is of now, whenever it is
 * looked at.
 */
export type MeasuredPartition = {
  readonly stage: StageName
  /** With the deployment's prefix. */
  readonly topic: string
  readonly partition: number
  /** Where reading begins. */
  readonly from: Offset
  /**
   * The first record that was not done at the assignment: those before it are only folded again.
   */
  readonly done: Offset
  /** The log's end at the assignment. */
  readonly end: Offset
  /** Open units, the one whose first record is oldest first. */
  readonly units: ReadonlyMap<string, Pick<Unit<unknown>, 'since'>>
  /** It has read up to the end that the log had at the assignment, and acts (R4). */
  hasCaughtUp(): boolean
}

export type PartitionInstrument = {
  /**
   * These records were read, next after the ones before, and what they led to is acknowledged.
   * `outputs` and `written` go side by side; there are none of records that were done before the
   * assignment.
   */
  acknowledged(step: {
    read: readonly StoredRecord[]
    outputs: readonly Output[]
    written: readonly RecordToAppend[]
  }): void
  closed(): void
}

export type Instruments = {
  assigned(partition: MeasuredPartition): PartitionInstrument
  /**
   * A stage's performer or its ticks have written these, and they are acknowledged. `messages` and
   * `written` go side by side.
   */
  observed(
    stage: StageName,
    observations: { messages: readonly Message[]; written: readonly RecordToAppend[] },
  ): void
}
