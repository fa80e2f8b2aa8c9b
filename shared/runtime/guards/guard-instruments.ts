// What a guard tells whoever measures it. As with the stages' instruments
// (shared/runtime/instruments.ts) nothing is called and nothing kept without them, and whoever
// implements them must not throw and must return at once.

import type { Offset, StoredRecord } from '../../contract/bus.ts'
import type { GuardVerdict } from '../../contract/messages.ts'

/** One partition of `rounds-cleared` as a guard reads it, from assignment to loss. */
export type MeasuredGuardPartition = {
  readonly guard: string
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
  /** It has read up to that end. */
  hasCaughtUp(): boolean
}

export type GuardPartitionInstrument = {
  /**
   * These records were read, next after the ones before, and the answers that they led to are
   * acknowledged.
   */
  acknowledged(step: { read: readonly StoredRecord[]; answers: readonly GuardVerdict[] }): void
  closed(): void
}

export type GuardInstruments = {
  assigned(partition: MeasuredGuardPartition): GuardPartitionInstrument
}
