// Reads a stretch of one partition once, from one offset to another: for searches in a log, not for
// followers. Memory: one batch, bounded by its bytes.

import type { Bus, Offset, StoredRecord } from '../contract/bus.ts'
import type { Milliseconds } from '../lib/clock.ts'
import { WeirError } from '../lib/errors.ts'

/** Includes `from`, excludes `to`. */
export type Range = { topic: string; partition: number; from: Offset; to: Offset }

/**
 * A record may have an earlier time than its cause, by at most this much: on Kafka each partition's
 * leader stamps with its own clock.
 */
export const leadersApartMs: Milliseconds = 60_000

/** So few that a batch dies before the garbage collector moves it. */
const batchRecordsMax = 500
const batchBytesMax = 4 * 1024 * 1024

/**
 * In order, until `to` or until `signal` aborts. `keys`: the caller wants their records only. A bus may
 * have an index, or give all others too.
 */
export async function* batchesOf(
  bus: Pick<Bus, 'read'>,
  { topic, partition, from, to, keys }: Range & { keys?: readonly string[] | undefined },
  signal?: AbortSignal,
): AsyncGenerator<StoredRecord[]> {
  for (let next = from; next < to && signal?.aborted !== true; ) {
    const records = await bus.read({
      topic,
      partition,
      from: next,
      to,
      limit: batchRecordsMax,
      bytesMax: batchBytesMax,
      keys,
    })
    const last = records.at(-1)
    if (last === undefined) return // the records are deleted or compacted away
    yield records
    next = last.offset + 1
  }
}

/**
 * The first offset in the range without older records than `time` after it. If the bus does not
 * know it, a binary search finds it: append times do not go back.
 */
export async function firstOffsetSince(
  bus: Pick<Bus, 'read' | 'offsetSince'>,
  { topic, partition, from, to }: Range,
  time: Milliseconds,
): Promise<Offset> {
  if (bus.offsetSince !== undefined) {
    const known = await bus.offsetSince({ topic, partition, time })
    return Math.min(to, Math.max(from, known ?? to))
  }
  let low = from
  let high = to
  while (low < high) {
    const middle = Math.floor((low + high) / 2)
    const [record] = await bus.read({
      topic,
      partition,
      from: middle,
      to: high,
      limit: 1,
      bytesMax: 1,
    })
    if (record === undefined || record.time >= time) high = middle
    else low = record.offset + 1
  }
  return low
}

/**
 * A partition up to its present end, from the causes of this time on. Default: whole. A partition
 * that is not there is empty.
 */
export async function rangeSince(
  bus: Pick<Bus, 'read' | 'offsetSince' | 'ends'>,
  { topic, partition }: Pick<Range, 'topic' | 'partition'>,
  time?: Milliseconds,
): Promise<Range> {
  const ends = (await bus.ends(topic)).find((one) => one.partition === partition)
  const whole = { topic, partition, from: ends?.begin ?? 0, to: ends?.end ?? 0 }
  if (time === undefined) return whole
  return { ...whole, from: await firstOffsetSince(bus, whole, time - leadersApartMs) }
}

/** For `ends` of a topic that may be younger than its log: no partition. Throws all other errors. */
export function noneIfMissing(error: unknown): never[] {
  if (error instanceof WeirError && error.code === 'bus.topic-missing') return []
  throw error
}

/** Batches from the first record that is not older than `since`, until `signal` aborts. */
export async function* followSince(
  bus: Pick<Bus, 'read' | 'offsetSince' | 'ends' | 'follow'>,
  place: { topic: string; partition: number; since: Milliseconds; signal: AbortSignal },
): AsyncGenerator<StoredRecord[]> {
  const { topic, partition, since, signal } = place
  const ends = (await bus.ends(topic)).find((one) => one.partition === partition)
  if (ends === undefined)
    throw new WeirError('bus.topic-missing', `${topic} has no partition ${partition}`)
  const range = { topic, partition, from: ends.begin, to: ends.end }
  const from = await firstOffsetSince(bus, range, since)
  yield* bus.follow({ topic, partition, from, signal })
}
