// The queues of all partitions that have records to write, and which of them may send next.

import type { RecordToAppend } from '../../../contract/bus.ts'
import { partitionName } from '../../../contract/partition.ts'
import { type Batch, createSendQueue, type Job, type SendQueue } from './send-queue.ts'

/** Brokers and consumers accept 1 MiB by default. The rest is for the fields that they add. */
const batchBytesMax = 1_000_000

export type PartitionQueues = {
  /** Queues with records of which none is in flight, in the order in which they became ready. */
  readonly ready: ReadonlySet<SendQueue>
  add(record: RecordToAppend, job: Job, index: number): void
  /** Takes a queue out of `ready` while its batch is in flight. */
  hold(queue: SendQueue): void
  /** The batch to send. Undefined: no caller waits for the rest, and the queue is forgotten. */
  nextBatch(queue: SendQueue): Batch | undefined
  /** Makes a queue ready again, or forgets it if it is empty. */
  release(queue: SendQueue): void
  /** Empties and returns all queues. */
  drain(): SendQueue[]
}

export function createPartitionQueues(countBytes: (bytes: number) => void): PartitionQueues {
  const queues = new Map<string, SendQueue>()
  const ready = new Set<SendQueue>()

  function forget(queue: SendQueue): void {
    ready.delete(queue)
    const name = partitionName(queue)
    if (queues.get(name) === queue) queues.delete(name)
  }

  return {
    ready,

    add(record, job, index) {
      const name = partitionName(record)
      let queue = queues.get(name)
      if (queue === undefined) {
        queue = createSendQueue(record.topic, record.partition, countBytes)
        queues.set(name, queue)
        ready.add(queue)
      }
      queue.add(record, job, index)
    },

    hold: (queue) => void ready.delete(queue),

    nextBatch(queue) {
      const batch = queue.next(batchBytesMax)
      if (batch === undefined) forget(queue)
      return batch
    },

    release(queue) {
      if (queue.isEmpty) forget(queue)
      else ready.add(queue)
    },

    drain() {
      const all = [...queues.values()]
      queues.clear()
      ready.clear()
      return all
    },
  }
}
