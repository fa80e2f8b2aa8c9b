// Consumes one partition of a subscription. Its reader gets one batch at a time: read, write the
// outputs, acknowledged.
// Calls to a reader never overlap. `acknowledged` comes only after all
// outputs of the step are acknowledged.
// Records that arrive during a step are the next batch, and are bounded.
// Otherwise the fetch waits, so no timer delays a record.
// A consumer that lost its partition only calls close('lost'), at once, even
// during a step. That step is not committed.
// A log may end with offsets that have no records. The reader learns that
// they are passed, or it would never count as caught up.

import type {
  Commit,
  PartitionReader,
  RecordToAppend,
  StoredRecord,
} from '../../../contract/bus.ts'
import type { Cursor } from '../fetch/fetch-cursors.ts'
import { bytesHeld } from '../reading.ts'

/** A batch ends at the first of the two. It always has at least one record. */
const batchRecordsMax = 1_000
const batchBytesMax = 2 * 1024 * 1024
/**
 * Fetching pauses at this many waiting records while a step runs. More would only arrive in smaller
 * pieces.
 */
const heldRecordsMax = 256

export type PartitionConsumer = {
  readonly partition: number
  readonly cursor: Cursor
  /** Resolves when no step runs. */
  idle(): Promise<void>
  /** Starts no further step. */
  stop(): void
  /**
   * `shutdown` also reaches the reader after `lost`: the reader has less time from then on.
   */
  close(how: 'shutdown' | 'lost'): Promise<void>
}

export type PartitionConsumerOptions = {
  topic: string
  partition: number
  reader: PartitionReader
  heldBytesMax: number
  /** Resolves when all are acknowledged. */
  write(records: RecordToAppend[]): Promise<void>
  /** All outputs up to this position are acknowledged. */
  onCommit(commit: Commit): void
  /** The consumer accepts records again. */
  onRoom(): void
  onFailed(error: unknown): void
}

export function createPartitionConsumer(options: PartitionConsumerOptions): PartitionConsumer {
  const { topic, partition, reader } = options
  const held = createHeldRecords()
  let isReading = true
  let isLost = false
  let stepping: Promise<void> | undefined
  let closing: { how: 'shutdown' | 'lost'; done: Promise<void> } | undefined

  const cursor: Cursor = {
    topic,
    partition,
    next: reader.position,
    skipsDeleted: false,
    hasRoom,
    onRecords(records) {
      held.add(records)
      startStep()
    },
    onSkipped: reportPassed,
    onFailed: options.onFailed,
  }

  function hasRoom(): boolean {
    return (
      isReading &&
      held.bytes() < options.heldBytesMax &&
      (stepping === undefined || held.count() < heldRecordsMax)
    )
  }

  function startStep(): void {
    if (stepping !== undefined || !isReading || held.count() === 0) return
    const hadRoom = hasRoom()
    stepping = step(held.takeBatch()).finally(() => {
      const wasFull = !hasRoom()
      stepping = undefined
      if (wasFull && hasRoom()) options.onRoom()
      // Sockets and timers run between two steps: a long fold must not cost the membership.
      if (isReading && held.count() > 0) setImmediate(startStep)
      reportPassed()
    })
    if (!hadRoom && hasRoom()) options.onRoom()
  }

  function reportPassed(): void {
    if (isReading && stepping === undefined && held.count() === 0) reader.passed?.(cursor.next)
  }

  async function step(batch: StoredRecord[]): Promise<void> {
    try {
      const { outputs, commit, allowsAhead } = await reader.read(batch)
      if (isLost) return
      const writing = outputs.length > 0 ? options.write(outputs) : undefined
      if (allowsAhead) reader.goAhead?.()
      await writing
      if (isLost) return
      if (commit !== undefined) options.onCommit(commit)
      reader.acknowledged()
    } catch (error) {
      if (isLost) return
      isReading = false
      options.onFailed(error)
    }
  }

  return {
    partition,
    cursor,
    idle: async () => stepping,
    stop() {
      isReading = false
      held.clear()
    },
    close(how) {
      if (how === 'lost') isLost = true
      if (closing === undefined || (closing.how === 'lost' && how === 'shutdown'))
        closing = { how, done: reader.close(how) }
      return closing.done
    },
  }
}

/** Records that were fetched and not yet read, oldest first. */
function createHeldRecords() {
  let records: StoredRecord[] = []
  let head = 0
  let heldBytes = 0

  return {
    count: () => records.length - head,
    bytes: () => heldBytes,

    add(added: StoredRecord[]): void {
      for (const record of added) {
        records.push(record)
        heldBytes += bytesHeld(record)
      }
    },

    takeBatch(): StoredRecord[] {
      const batch: StoredRecord[] = []
      let bytes = 0
      while (head < records.length && batch.length < batchRecordsMax && bytes < batchBytesMax) {
        const record = records[head] as StoredRecord
        head += 1
        bytes += bytesHeld(record)
        batch.push(record)
      }
      heldBytes -= bytes
      if (head === records.length) {
        records = []
        head = 0
      }
      return batch
    },

    clear(): void {
      records = []
      head = 0
      heldBytes = 0
    },
  }
}
