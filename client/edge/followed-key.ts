// The records of one key of a topic as they arrive. All followers of a partition share one reader, so
// a record costs one read, however many conversations are followed.
// FOLLOWED-KEY-1. A follower gets each record of its key from its offset on, once and in order.
// FOLLOWED-KEY-2. Records that wait for a slow follower are bounded. It reads those beyond from the log.

import { batchesOf } from '../../shared/bus/range.ts'
import type { Bus, Offset, StoredRecord } from '../../shared/contract/bus.ts'
import { limits } from '../../shared/contract/limits.ts'

export type KeyRange = {
  topic: string
  partition: number
  key: string
  from: Offset
  signal: AbortSignal
}

/** Goes on until the signal aborts. Throws if the log cannot be read. */
export type FollowKey = (range: KeyRange) => AsyncGenerator<StoredRecord[], void>

/** `inLogFrom`: records from here on are not kept, and are read from the log. */
type Follower = {
  from: Offset
  kept: StoredRecord[]
  keptBytes: number
  inLogFrom: Offset | undefined
  failure: { error: unknown } | undefined
  wake: () => void
}

/** `next`: the offset behind the newest record that all followers have, kept or not. */
type Reading = {
  next: Offset
  followers: Map<string, Set<Follower>>
  started: Promise<void>
  stop: AbortController
}

export function createFollowKey(bus: Pick<Bus, 'ends' | 'read' | 'follow'>): FollowKey {
  const readings = new Map<string, Reading>()

  function readingOf({ topic, partition }: KeyRange): Reading {
    const name = `${partition} ${topic}`
    const known = readings.get(name)
    if (known !== undefined) return known
    const stop = new AbortController()
    const reading: Reading = { next: 0, followers: new Map(), started: Promise.resolve(), stop }
    reading.started = start(reading, { topic, partition })
    readings.set(name, reading)
    const end = (): void => {
      if (readings.get(name) === reading) readings.delete(name)
    }
    stop.signal.addEventListener('abort', end, { once: true })
    return reading
  }

  async function start(reading: Reading, of: { topic: string; partition: number }): Promise<void> {
    const ends = (await bus.ends(of.topic)).find((one) => one.partition === of.partition)
    reading.next = ends?.end ?? 0
    read(reading, of).catch((error: unknown) => {
      reading.stop.abort()
      for (const follower of [...reading.followers.values()].flatMap((some) => [...some])) {
        follower.failure = { error }
        follower.wake()
      }
    })
  }

  async function read(reading: Reading, of: { topic: string; partition: number }): Promise<void> {
    const { signal } = reading.stop
    for await (const records of bus.follow({ ...of, from: reading.next, signal }))
      for (const record of records) {
        reading.next = record.offset + 1
        for (const follower of reading.followers.get(record.key) ?? []) keep(follower, record)
      }
  }

  return async function* (range) {
    const { topic, partition, key, from, signal } = range
    const reading = readingOf(range)
    const follower: Follower = {
      from,
      kept: [],
      keptBytes: 0,
      inLogFrom: from,
      failure: undefined,
      wake: () => {},
    }
    reading.followers.set(key, (reading.followers.get(key) ?? new Set()).add(follower))
    const onAbort = (): void => follower.wake()
    signal.addEventListener('abort', onAbort, { once: true })
    try {
      await reading.started
      while (!signal.aborted) {
        if (follower.kept.length > 0) {
          const records = follower.kept
          follower.kept = []
          follower.keptBytes = 0
          yield records
        } else if (follower.inLogFrom !== undefined) {
          const missed = { topic, partition, from: follower.inLogFrom, to: reading.next }
          follower.inLogFrom = undefined // the reader keeps the records from `to` on
          for await (const records of batchesOf(bus, missed, signal)) {
            const own = records.filter((record) => record.key === key)
            if (own.length > 0) yield own
          }
        } else if (follower.failure !== undefined) throw follower.failure.error
        else
          await new Promise<void>((resolve) => {
            follower.wake = resolve
          })
      }
    } finally {
      signal.removeEventListener('abort', onAbort)
      leave(reading, key, follower)
    }
  }

  function leave(reading: Reading, key: string, follower: Follower): void {
    const some = reading.followers.get(key)
    some?.delete(follower)
    if (some?.size === 0) reading.followers.delete(key)
    if (reading.followers.size === 0) reading.stop.abort()
  }
}

/** Keeps FOLLOWED-KEY-2. */
function keep(follower: Follower, record: StoredRecord): void {
  if (record.offset < follower.from || follower.inLogFrom !== undefined) return
  const bytes = record.value?.length ?? 0
  const isFull =
    follower.kept.length >= limits.followedRecordsMax ||
    follower.keptBytes + bytes > limits.followedBytesMax
  if (isFull) follower.inLogFrom = record.offset
  else {
    follower.kept.push(record)
    follower.keptBytes += bytes
  }
  follower.wake()
}
