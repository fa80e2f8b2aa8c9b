// One bus over the changes of a process's role: it reads and writes through the bus of the moment.
// A follower continues at its offset in the next bus, so it misses no record.

import { eraseIn } from '../../shared/bus/erase-in.ts'
import type { Bus } from '../../shared/contract/bus.ts'
import { WeirError } from '../../shared/lib/errors.ts'

export type SwitchingBus = {
  bus: Bus
  /** Goes on with this bus. Followers of the one before move to it. */
  use(next: Bus): void
}

export type SwitchingOptions = {
  /** Repeats an append as long as it may. */
  patiently: <T>(work: () => Promise<T>) => Promise<T>
  /** Closes the buses. */
  close: () => Promise<void>
}

/** `use` must come before any call of the bus. */
export function createSwitchingBus({ patiently, close }: SwitchingOptions): SwitchingBus {
  let current: { bus: Bus; left: AbortController } | undefined

  function now(): { bus: Bus; left: AbortController } {
    if (current !== undefined) return current
    throw new WeirError('runtime.assertion', 'the bus is used before it is open')
  }

  /** Repeats a read whose bus was closed because another one came. */
  async function reading<T>(read: (bus: Bus) => Promise<T>): Promise<T> {
    for (;;) {
      const { bus, left } = now()
      try {
        return await read(bus)
      } catch (error) {
        if (!(left.signal.aborted && error instanceof WeirError && error.code === 'bus.closed'))
          throw error
      }
    }
  }

  async function* follow(range: Parameters<Bus['follow']>[0]): ReturnType<Follow> {
    for (let { from } = range; !range.signal.aborted; ) {
      const { bus, left } = now()
      const signal = AbortSignal.any([range.signal, left.signal])
      try {
        for await (const batch of bus.follow({ ...range, from, signal })) {
          yield batch
          from = (batch.at(-1)?.offset ?? from - 1) + 1
        }
      } catch (error) {
        if (!left.signal.aborted) throw error
      }
    }
  }

  return {
    use(next) {
      const before = current
      current = { bus: next, left: new AbortController() }
      before?.left.abort()
    },

    bus: {
      get clock() {
        return now().bus.clock
      },
      get provesFormerOwnersDead() {
        return now().bus.provesFormerOwnersDead
      },
      get recordBytesMax() {
        return now().bus.recordBytesMax
      },
      space: () => now().bus.space?.() ?? { bytes: 0, bytesMax: 0 },
      async erase(erasure) {
        return eraseIn(now().bus, erasure)
      },
      ensureTopics: (topics) => now().bus.ensureTopics(topics),
      append: (records, options) => patiently(() => now().bus.append(records, options)),
      subscribe: (options) => now().bus.subscribe(options),
      ends: (topic, partitions) => reading((bus) => bus.ends(topic, partitions)),
      read: (range) => reading((bus) => bus.read(range)),
      list: (table) => reading((bus) => bus.list(table)),
      keys: (table) => reading((bus) => bus.keys(table)),
      get: (table) => reading((bus) => bus.get(table)),
      follow,
      close,
    },
  }
}

type Follow = (range: Parameters<Bus['follow']>[0]) => AsyncGenerator<Batch, void>
type Batch = Awaited<ReturnType<Bus['read']>>
