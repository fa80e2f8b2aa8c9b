// The consumers of a subscription: one for each assigned partition, and those that still close after
// they lost theirs.

import type { Logger } from 'pino'
import type { PartitionReader, RecordToAppend } from '../../../contract/bus.ts'
import type { Fetching } from '../fetch/fetching.ts'
import type { CommitSchedule } from './commit-schedule.ts'
import { createPartitionConsumer, type PartitionConsumer } from './partition-consumer.ts'

/** The bytes fetched ahead: for all partitions together, and for each. */
const heldBytesMax = 64 * 1024 * 1024
const partitionHeldBytesMax = 2 * 1024 * 1024
const partitionHeldBytesMin = 128 * 1024
type Parts = {
  topic: string
  log: Logger
  fetching: Fetching
  commits: Pick<CommitSchedule, 'add' | 'drop'>
  closings: Closings
  write(records: RecordToAppend[]): Promise<void>
  onFailed(error: unknown, partition: number): void
}

export function createConsumers({
  topic,
  log,
  fetching,
  commits,
  closings,
  write,
  onFailed,
}: Parts) {
  const consumers = new Map<number, PartitionConsumer>()
  /** Consumers that lost their partition and are still closing. */
  const leaving = new Set<PartitionConsumer>()

  function closeLost(partition: number, consumer: PartitionConsumer): void {
    consumers.delete(partition)
    commits.drop(partition)
    fetching.remove(consumer.cursor)
    consumer.stop()
    leaving.add(consumer)
    const closed = consumer.close('lost').finally(() => leaving.delete(consumer))
    closings.addReader(closed, partition)
  }

  return {
    has: (partition: number): boolean => consumers.has(partition),

    start(partition: number, reader: PartitionReader): void {
      const share = Math.min(partitionHeldBytesMax, heldBytesMax / (consumers.size + 1))
      const consumer = createPartitionConsumer({
        topic,
        partition,
        reader,
        write,
        onFailed: (error) => onFailed(error, partition),
        heldBytesMax: Math.max(partitionHeldBytesMin, share),
        onCommit: (commit) => commits.add(partition, commit),
        onRoom: fetching.wake,
      })
      consumers.set(partition, consumer)
      fetching.add(consumer.cursor)
    },

    /** Closes the consumers of all other partitions as lost. */
    keepOnly(partitions: number[]): void {
      for (const [partition, consumer] of consumers)
        if (!partitions.includes(partition)) {
          log.info({ topic, partition }, 'the partition moved to another member')
          closeLost(partition, consumer)
        }
    },

    /** Closes one consumer, as if its partition had moved. */
    abandon(partition: number): void {
      const consumer = consumers.get(partition)
      if (consumer !== undefined) closeLost(partition, consumer)
    },

    /** No consumer gets more records. */
    stop(): void {
      for (const consumer of consumers.values()) {
        fetching.remove(consumer.cursor)
        consumer.stop()
      }
    },

    /** Resolves when no step runs. */
    async idle(): Promise<void> {
      await Promise.all([...consumers.values()].map((consumer) => consumer.idle()))
    },

    close(): void {
      for (const consumer of [...consumers.values(), ...leaving])
        closings.addReader(consumer.close('shutdown'), consumer.partition)
    },
  }
}

type Closings = ReturnType<typeof createClosings>

/** The work that a close waits for besides its own readers: lost readers and restores. */
export function createClosings(log: Logger, topic: string) {
  const closings = new Set<Promise<void>>()

  function add(work: Promise<void>): void {
    const tracked: Promise<void> = work.finally(() => closings.delete(tracked))
    closings.add(tracked)
  }

  return {
    add,

    addReader(closed: Promise<void>, partition: number): void {
      add(
        closed.catch((error: unknown) =>
          log.error({ err: error, topic, partition }, 'a reader could not be closed'),
        ),
      )
    },

    /** Also of work that is added meanwhile. */
    async done(): Promise<void> {
      while (closings.size > 0) await Promise.all(closings)
    },
  }
}
