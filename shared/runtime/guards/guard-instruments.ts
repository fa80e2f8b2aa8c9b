// The instruments of a guard. As with the stages' instruments (shared/runtime/instruments.ts), a
// guard without them calls and keeps nothing. An implementation must not throw and must return at
// once.

import type { Offset, StoredRecord } from '../../contract/bus.ts'
import type { GuardVerdict } from '../../contract/messages.ts'

/** One partition of `rounds-cleared` as a guard reads it, from assignment to loss. */
export type MeasuredGuardPartition = {
  readonly guard: string
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
  /** It has read up to that end. */
  hasCaughtUp(): boolean
}

export type GuardPartitionInstrument = {
  /** The next records that were read. Their answers are acknowledged. */
  acknowledged(step: { read: readonly StoredRecord[]; answers: readonly GuardVerdict[] }): void
  closed(): void
}

export type GuardInstruments = {
  assigned(partition: MeasuredGuardPartition): GuardPartitionInstrument
}
