// Readers that write down everything that a bus does with them, for the contract suite and the
// tests of one bus.

import type {
  Assignment,
  Bus,
  PartitionReader,
  Step,
  StoredRecord,
  Subscription,
} from '../../../shared/contract/bus.ts'
import { waitMaxMs } from '../../support/wait-limit.ts'

/**
 * What happened to one partition, in order. `read`: with the offsets; `acknowledged`, `closed`: as
 * it was called.
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
  /** All records of all partitions so far, in the order in which they were handed over. */
  records: StoredRecord[]
  values(): string[]
}

export type RecordingOptions = {
  group: string
  topic: string
  /** Where to begin; default: the commit's offset, or the begin of the partition. */
  position?: (assignment: Assignment) => number
  /** What a batch leads to; default: nothing but a commit behind it. */
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

/** The commit that says that all of `batch` is done. */
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

/** Waits until something is so. A test that waits in vain ends with what it waited for. */
export async function until(what: string, isSo: () => boolean | Promise<boolean>): Promise<void> {
  for (const end = Date.now() + waitMaxMs; !(await isSo()); ) {
    if (Date.now() > end) throw new Error(`waited in vain until ${what}`)
    await new Promise((resolve) => setTimeout(resolve, 2))
  }
}
