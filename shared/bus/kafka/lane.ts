// One partition that a subscription was given: its reader, what was fetched for it, and one step at
// a time: read, write, acknowledged.
// LANE-1. The calls to a reader come one after the other; `acknowledged` only when all outputs of
//     the step are.
// LANE-2. What is fetched meanwhile is bounded, and is the next batch; when nothing waits the fetch
//     does, so a record is not held up by a timer.
// LANE-3. A lane that was lost calls its reader no more, but for close('lost'), at once and also
//     during a step; what that step leads to is not committed.
// LANE-4. A log may end with what is no record. The reader hears that it is past that, or it would
//     wait for ever to have caught up.

import type { Commit, PartitionReader, RecordToAppend, StoredRecord } from '../../contract/bus.ts'
import type { WeirError } from '../../lib/errors.ts'
import type { Cursor } from './fetching.ts'
import { bytesHeld } from './reading.ts'

/** A batch ends at whichever comes first; one record is always in it. */
const batchRecordsMax = 1_000
const batchBytesMax = 2 * 1024 * 1024
/**
 * While a step is under way, fetching for this partition pauses when so much waits: more would only
 * be fetched in smaller pieces.
 */
const heldRecordsMax = 256

export type Lane = {
  readonly partition: number
  readonly cursor: Cursor
  /** Resolves when no step is under way. */
  idle(): Promise<void>
  /** Hands over no more. */
  stop(): void
  /**
   * `shutdown` after `lost` reaches the reader, too: what it still waits for has less time from
   * then on.
   */
  close(how: 'shutdown' | 'lost'): Promise<void>
}

export type LaneOptions = {
  topic: string
  partition: number
  reader: PartitionReader
  heldBytesMax: number
  /** Resolves when all are acknowledged. */
  write(records: RecordToAppend[]): Promise<void>
  /** All outputs up to this position are acknowledged. */
  done(commit: Commit): void
  /** Fetching may go on. */
  roomAgain(): void
  failed(error: unknown): void
}

export function createLane(options: LaneOptions): Lane {
  const { topic, partition, reader } = options
  let held: StoredRecord[] = []
  let heldFrom = 0
  let heldBytes = 0
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
    take(records) {
      for (const record of records) {
        held.push(record)
        heldBytes += bytesHeld(record)
      }
      pump()
    },
    passed: tellPassed,
    fail: (error: WeirError) => options.failed(error),
  }

  function hasRoom(): boolean {
    const waiting = held.length - heldFrom
    return (
      isReading &&
      heldBytes < options.heldBytesMax &&
      (stepping === undefined || waiting < heldRecordsMax)
    )
  }

  function takeBatch(): StoredRecord[] {
    const batch: StoredRecord[] = []
    let bytes = 0
    while (heldFrom < held.length && batch.length < batchRecordsMax && bytes < batchBytesMax) {
      const record = held[heldFrom] as StoredRecord
      heldFrom += 1
      bytes += bytesHeld(record)
      batch.push(record)
    }
    heldBytes -= bytes
    if (heldFrom === held.length) {
      held = []
      heldFrom = 0
    }
    return batch
  }

  function pump(): void {
    if (stepping !== undefined || !isReading || heldFrom === held.length) return
    const hadRoom = hasRoom()
    stepping = step(takeBatch()).finally(() => {
      const hadNone = !hasRoom()
      stepping = undefined
      if (hadNone && hasRoom()) options.roomAgain()
      // Sockets and timers have their turn between two steps: a long fold must not cost the
      // membership.
      if (isReading && heldFrom < held.length) setImmediate(pump)
      tellPassed()
    })
    if (!hadRoom && hasRoom()) options.roomAgain()
  }

  /** Keeps LANE-4. */
  function tellPassed(): void {
    if (isReading && stepping === undefined && heldFrom === held.length)
      reader.passed?.(cursor.next)
  }

  async function step(batch: StoredRecord[]): Promise<void> {
    try {
      const { outputs, commit } = await reader.read(batch)
      if (isLost) return
      if (outputs.length > 0) await options.write(outputs)
      if (isLost) return // keeps LANE-3
      if (commit !== undefined) options.done(commit)
      reader.acknowledged()
    } catch (error) {
      if (isLost) return
      isReading = false
      options.failed(error)
    }
  }

  return {
    partition,
    cursor,
    idle: async () => stepping,
    stop() {
      isReading = false
      held = []
      heldFrom = 0
      heldBytes = 0
    },
    close(how) {
      if (how === 'lost') isLost = true
      if (closing === undefined || (closing.how === 'lost' && how === 'shutdown'))
        closing = { how, done: reader.close(how) }
      return closing.done
    },
  }
}
