// One reader of a topic's partition for all listeners in this process, so a record costs one read,
// however many conversations are followed. It reads only while it has a listener.

import type { Bus, Offset, StoredRecord } from '../../shared/contract/bus.ts'

export type KeyListener = {
  onRecord(record: StoredRecord): void
  /** No further record will come. */
  onFailure(error: unknown): void
}

/** `from`: the listener gets all records of its key from this offset on. */
export type Listening = { from: Offset; stop: () => void }

export type PartitionReader = {
  /** The offset after the newest record that all listeners have. */
  readonly next: Offset
  /** Calls `onRecord` for each record of the key from now on, until `stop` is called. */
  listen(key: string, listener: KeyListener): Promise<Listening>
  close(): void
}

type Reading = { stop: AbortController; started: Promise<void> }

export function createPartitionReader(
  bus: Pick<Bus, 'ends' | 'follow'>,
  topic: string,
  partition: number,
): PartitionReader {
  const listeners = new Map<string, Set<KeyListener>>()
  let reading: Reading | undefined
  let next: Offset = 0

  function begin(): Reading {
    const stop = new AbortController()
    const begun: Reading = { stop, started: start(stop.signal) }
    return begun

    /** Reads from the log's end. */
    async function start(signal: AbortSignal): Promise<void> {
      next = (await bus.ends(topic)).find((ends) => ends.partition === partition)?.end ?? 0
      read(next, signal).catch((error: unknown) => {
        if (reading !== begun) return
        reading = undefined // the next listener tries again
        for (const listener of [...listeners.values()].flatMap((some) => [...some]))
          listener.onFailure(error)
      })
    }
  }

  async function read(from: Offset, signal: AbortSignal): Promise<void> {
    for await (const records of bus.follow({ topic, partition, from, signal }))
      for (const record of records) {
        next = record.offset + 1
        for (const listener of [...(listeners.get(record.key) ?? [])]) listener.onRecord(record)
      }
  }

  function remove(key: string, listener: KeyListener): void {
    const some = listeners.get(key)
    if (some?.delete(listener) && some.size === 0) listeners.delete(key)
    if (listeners.size === 0) end()
  }

  function end(): void {
    reading?.stop.abort()
    reading = undefined
  }

  return {
    get next() {
      return next
    },

    async listen(key, listener) {
      listeners.set(key, (listeners.get(key) ?? new Set()).add(listener))
      reading ??= begin()
      try {
        await reading.started
      } catch (error) {
        remove(key, listener)
        throw error
      }
      return { from: next, stop: () => remove(key, listener) }
    },

    close() {
      listeners.clear()
      end()
    },
  }
}
