// The reading half of the embedded bus, for the writing process and for a reader next to it. Readers
// do not poll: changes.ts wakes them.

import type { Bus, StoredRecord } from '../../contract/bus.ts'
import type { Clock, Milliseconds } from '../../lib/clock.ts'
import type { Changes } from './changes.ts'
import type { Log } from './log/log.ts'
import type { PartitionName } from './log/log-partition.ts'

/** The bounds of a batch. It holds at least one record. */
export const batchRecordsMax = 512
export const batchBytesMax = 4 * 1024 * 1024

export type Reading = Pick<Bus, 'ends' | 'read' | 'follow' | 'list' | 'keys' | 'get'>

/**
 * `assertOpen` throws `bus.closed` once the bus is closed. close() then wakes all waiters, and each
 * checks again.
 */
export function createReading({
  log,
  clock,
  changes,
  assertOpen,
}: {
  log: Log
  clock: Clock
  changes: Changes
  assertOpen: () => void
}): Reading {
  return {
    async ends(topic) {
      assertOpen()
      return log.ends(topic)
    },

    async read(range) {
      assertOpen()
      // A reader that reads its records a second time may have read ahead of the file up to `to`.
      while (log.isStagedBefore({ ...range, to: range.to ?? 0 })) await nextChange(range)
      return log.read(range)
    },

    async *follow({ topic, partition, from, signal }) {
      for (let next = from; !signal.aborted; ) {
        assertOpen()
        const batch = log.read({
          topic,
          partition,
          from: next,
          limit: batchRecordsMax,
          bytesMax: batchBytesMax,
        })
        const last = batch.at(-1)
        if (last === undefined) {
          await nextChange({ topic, partition }, { signal })
        } else {
          yield batch
          next = last.offset + 1
          await othersTurn() // a long log must not keep everything else from running
        }
      }
    },

    async list(table) {
      assertOpen()
      return log.newestWithPrefix(table)
    },

    async keys(table) {
      assertOpen()
      return log.keys(table)
    },

    async get({ waitMs, ...table }) {
      const deadline = clock.monotonic() + waitMs
      for (;;) {
        assertOpen()
        const found: StoredRecord | undefined = log.newest(table)
        const left = deadline - clock.monotonic()
        if (found !== undefined || left <= 0) return found
        await nextChange(table, { ms: left })
      }
    },
  }

  /** Resolves at the next change, when `signal` aborts, or after `ms`. */
  function nextChange(
    partition: PartitionName,
    { signal, ms }: { signal?: AbortSignal; ms?: Milliseconds } = {},
  ): Promise<void> {
    return new Promise((resolve) => {
      const stopWaiting = changes.once(partition, done)
      const stopTimer = ms === undefined ? undefined : clock.after(ms, done)
      signal?.addEventListener('abort', done, { once: true })
      function done(): void {
        stopWaiting()
        stopTimer?.()
        signal?.removeEventListener('abort', done)
        resolve()
      }
    })
  }
}

function othersTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve))
}
