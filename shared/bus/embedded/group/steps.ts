// Runs the steps of lanes: reads a batch, gives it to the reader, has the outputs written, and
// acknowledges. Owns: which steps are void after a write that failed for good.

import type { StoredRecord } from '../../../contract/bus.ts'
import type { Log } from '../log/log.ts'
import { batchBytesMax, batchRecordsMax } from '../reading.ts'
import type { Writer } from '../writer.ts'
import { idle, type Lane } from './lane.ts'
import { createTurns } from './turns.ts'

export type Steps = {
  /** Queues the lane if it is idle and has something to read. */
  queueIfReady(lane: Lane): void
  pump(): void
  /** Makes all steps void that read ahead of the file. */
  voidAll(): void
}

export type StepsOptions = {
  log: Log
  writer: Pick<Writer, 'writeStep'>
  wake: () => void
  flush: () => void
}

export function createSteps({ log, writer, wake, flush }: StepsOptions): Steps {
  const turns = createTurns({ wake, flush, beginStep })
  /** How often steps became void. */
  let era = 0

  function queueIfReady(lane: Lane): void {
    if (lane.phase.kind !== 'idle' || !lane.owner.isReading || log.endAhead(lane) <= lane.next)
      return
    lane.phase = { kind: 'queued' }
    turns.push(lane)
  }

  function beginStep(lane: Lane): number {
    const batch = readBatch(log, lane)
    if (batch.length > 0) lane.phase = { kind: 'stepping', done: step(lane, batch) }
    return batch.length
  }

  async function step(lane: Lane, batch: StoredRecord[]): Promise<void> {
    try {
      const answer = await stepOf(lane, batch)
      await answer?.written
      if (answer !== undefined) {
        lane.next = (batch.at(-1)?.offset ?? lane.next) + 1
        lane.reader.acknowledged()
      }
    } catch (error) {
      lane.owner.fail(error)
    }
    lane.phase = idle
    queueIfReady(lane)
  }

  /** Gives the batch to the reader and queues the outputs. Undefined: the batch became void. */
  async function stepOf(
    lane: Lane,
    batch: StoredRecord[],
  ): Promise<{ written: Promise<void> } | undefined> {
    const readIn = era
    const answered = turns.readerStarts()
    try {
      const { outputs, commit } = await lane.reader.read(batch)
      if (readIn !== era) return undefined
      const committed = () => {
        lane.committed = commit
      }
      return {
        written: writer.writeStep({
          outputs,
          commitment: commit && { of: lane, commit, committed },
        }),
      }
    } finally {
      answered()
    }
  }

  return {
    queueIfReady,
    pump: turns.pump,
    voidAll() {
      era += 1
    },
  }
}

function readBatch(log: Log, { topic, partition, next, owner }: Lane): StoredRecord[] {
  try {
    return log.readAhead({
      topic,
      partition,
      from: next,
      limit: batchRecordsMax,
      bytesMax: batchBytesMax,
    })
  } catch (error) {
    owner.fail(error)
    return []
  }
}
