// Readers that record all calls of a bus, for the contract suite and the tests of one bus.

import type {
  Assignment,
  Bus,
  PartitionReader,
  Step,
  StoredRecord,
  Subscription,
} from '../../../shared/contract/bus.ts'
import { until as untilTrue } from '../../support/inbox.ts'

/**
 * The events of one partition, in order. `read`: with the offsets. `acknowledged`, `closed`: with
 * the arguments of the call.
 */
export type Happening =
  | { what: 'assigned' }
  | { what: 'read'; offsets: number[] }
  | { what: 'acknowledged' }
  | { what: 'closed'; how: string }

export type RecordedPartition = {
  assignment: Assignment
  records: StoredRecord[]
  happenings: Happening[]
}

export type Recording = {
  subscription: Subscription
  partitions: Map<number, RecordedPartition>
  /** All records of all partitions so far, in the order of their delivery. */
  records: StoredRecord[]
  values(): string[]
}

export type RecordingOptions = {
  group: string
  topic: string
  /** The start position. Default: the commit's offset, or the begin of the partition. */
  position?: (assignment: Assignment) => number
  /** The step for a batch. Default: only a commit after it. */
  step?: (records: StoredRecord[], assignment: Assignment) => Step | Promise<Step>
  acknowledged?: (assignment: Assignment) => void
  closed?: (assignment: Assignment) => Promise<void>
}

/** Subscribes with readers that record. */
export async function subscribeRecording(bus: Bus, options: RecordingOptions): Promise<Recording> {
  const { group, topic } = options
  const partitions = new Map<number, RecordedPartition>()
  const records: StoredRecord[] = []
  const subscription = await bus.subscribe({
    group,
    topic,
    async assign(assignment): Promise<PartitionReader> {
      const recorded: RecordedPartition = {
        assignment,
        records: [],
        happenings: [{ what: 'assigned' }],
      }
      partitions.set(assignment.ends.partition, recorded)
      return {
        position:
          options.position?.(assignment) ?? assignment.committed?.offset ?? assignment.ends.begin,
        async read(batch) {
          recorded.happenings.push({ what: 'read', offsets: batch.map(({ offset }) => offset) })
          recorded.records.push(...batch)
          records.push(...batch)
          return (
            (await options.step?.(batch, assignment)) ?? {
              outputs: [],
              commit: commitBehind(batch),
            }
          )
        },
        acknowledged() {
          recorded.happenings.push({ what: 'acknowledged' })
          options.acknowledged?.(assignment)
        },
        async close(how) {
          await options.closed?.(assignment)
          recorded.happenings.push({ what: 'closed', how })
        },
      }
    },
  })
  return { subscription, partitions, records, values: () => records.map(textOf) }
}

/** The commit after all of `batch`. */
export function commitBehind(
  batch: StoredRecord[],
  metadata = '',
): { offset: number; metadata: string } {
  return { offset: (batch.at(-1)?.offset ?? -1) + 1, metadata }
}

export function bytesOf(text: string): Uint8Array {
  return new TextEncoder().encode(text)
}

/** The value as text; a tombstone as `null`. */
export function textOf({ value }: { value: Uint8Array | null }): string {
  return value === null ? 'null' : new TextDecoder().decode(value)
}

/** Waits for a condition. On a timeout the error names the condition. */
export function until(what: string, isSo: () => boolean | Promise<boolean>): Promise<void> {
  return untilTrue(isSo, what)
}
