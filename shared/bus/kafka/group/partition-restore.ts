// Restores the partitions that the group assigned: reads their commits and ends, and creates their
// readers. Retries while the broker is away, until the partition is assigned elsewhere.

import type { Logger } from 'pino'
import type { Commit, PartitionReader, SubscribeOptions } from '../../../contract/bus.ts'
import { WeirError } from '../../../lib/errors.ts'
import { pause } from '../../../lib/pause.ts'
import type { Cluster } from '../cluster/cluster.ts'
import { recoveryOf } from '../failure.ts'

export type PartitionRestore = {
  readonly isIdle: boolean
  has(partition: number): boolean
  /** Never rejects: failures go to `onFailed`. */
  restore(partitions: number[]): Promise<void>
  /** Cancels the restores of all other partitions. */
  keepOnly(partitions: number[]): void
  /** Cancels all. A close does not wait for a broker that is away. */
  stop(): void
}

export type PartitionRestoreOptions = {
  cluster: Cluster
  log: Logger
  topic: string
  assign: SubscribeOptions['assign']
  committed(partitions: number[]): Promise<Map<number, Commit>>
  onRestored(partition: number, reader: PartitionReader): void
  /** The partition was assigned elsewhere while its reader was created. */
  onCancelled(partition: number, reader: PartitionReader): void
  /** `partition`: undefined if it concerns all of them. */
  onFailed(error: unknown, partition?: number): void
}

const retryMs = 1_000

export function createPartitionRestore(options: PartitionRestoreOptions): PartitionRestore {
  const { cluster, log, topic } = options
  /** Each by the object of its attempt: a partition may come back before its restore ends. */
  const attempts = new Map<number, object>()
  const stopped = new AbortController()
  const { promise: untilStopped, reject: rejectStopped } = Promise.withResolvers<never>()
  untilStopped.catch(() => {}) // without a restore there is no other handler

  /** Retries while any of them is current: without the answer nothing can be read. */
  async function fetchCommitsAndEnds(
    partitions: number[],
    isCurrent: (partition: number) => boolean,
  ) {
    for (;;) {
      try {
        // The commits first: a former owner may still commit, and its position must not be before
        // the ends.
        const committed = await Promise.race([options.committed(partitions), untilStopped])
        const ends = await Promise.race([cluster.ends(topic, partitions), untilStopped])
        return { committed, ends }
      } catch (error) {
        if (recoveryOf(error) === 'fail' || !partitions.some(isCurrent)) throw error
        log.warn(
          { reason: (error as Error).message, topic, partitions },
          'partitions cannot be restored yet; retrying',
        )
        await pause(cluster.clock, retryMs, stopped.signal)
      }
    }
  }

  async function restore(partitions: number[]): Promise<void> {
    const attempt = {}
    for (const partition of partitions) attempts.set(partition, attempt)
    const isCurrent = (partition: number): boolean => attempts.get(partition) === attempt
    try {
      const { committed, ends } = await fetchCommitsAndEnds(partitions, isCurrent)
      await Promise.all(
        ends.map(async (each) => {
          const { partition } = each
          if (!isCurrent(partition)) return
          try {
            const reader = await options.assign({
              topic,
              ends: each,
              committed: committed.get(partition),
            })
            if (!isCurrent(partition)) return options.onCancelled(partition, reader)
            options.onRestored(partition, reader)
            attempts.delete(partition)
          } catch (error) {
            if (isCurrent(partition)) options.onFailed(error, partition) // otherwise the new owner meets it
          }
        }),
      )
    } catch (error) {
      if (partitions.some(isCurrent)) options.onFailed(error)
    }
    for (const partition of partitions) if (isCurrent(partition)) attempts.delete(partition)
  }

  return {
    get isIdle() {
      return attempts.size === 0
    },

    has: (partition) => attempts.has(partition),
    restore,

    keepOnly(partitions) {
      for (const partition of [...attempts.keys()])
        if (!partitions.includes(partition)) attempts.delete(partition)
    },

    stop() {
      attempts.clear()
      stopped.abort()
      rejectStopped(new WeirError('bus.closed', 'the subscription reads no more'))
    },
  }
}
