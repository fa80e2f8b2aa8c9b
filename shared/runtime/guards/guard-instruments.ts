// The instruments of a guard. As with the stages' instruments (shared/runtime/instruments.ts), a
// guard without them calls and keeps nothing. An implementation must not throw and must return at
// once.

import type { StoredRecord } from '../../contract/bus.ts'
import type { GuardVerdict } from '../../contract/messages.ts'
import type { MeasuredPartition } from '../instruments.ts'

/** One partition of `rounds-cleared` as a guard reads it, from assignment to loss. */
export type MeasuredGuardPartition = Omit<MeasuredPartition, 'stage' | 'units'> & {
  readonly guard: string
}

export type GuardPartitionInstrument = {
  /** The next records that were read. Their answers are acknowledged. */
  acknowledged(step: { read: readonly StoredRecord[]; answers: readonly GuardVerdict[] }): void
  closed(): void
}

export type GuardInstruments = {
  assigned(partition: MeasuredGuardPartition): GuardPartitionInstrument
}
