// A stretch of one partition that is read once, from one offset to another: for whoever looks for
// something in a log, and not at what comes. Memory: one batch, bounded by its bytes.

import type { Bus, Offset, StoredRecord } from '../contract/bus.ts'
import type { Milliseconds } from '../lib/clock.ts'

/** `from` is in it, `to` is not. */
export type Range = { topic: string; partition: number; from: Offset; to: Offset }

/**
 * A record may seem older than the one it follows from, by this at most: on Kafka each has the time
 * of its own partition's leader.
 */
export const leadersApartMs: Milliseconds = 60_000

/** Few enough that a batch is done with before the garbage collector would move it. */
const batchRecordsMax = 500
const batchBytesMax = 4 * 1024 * 1024

/** In order, until `to` or until `signal` aborts. */
export async function* batchesOf(
  bus: Pick<Bus, 'read'>,
  { topic, partition, from, to }: Range,
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
    })
    const last = records.at(-1)
    if (last === undefined) return // what was there is deleted, or was compacted away
    yield records
    next = last.offset + 1
  }
}

/**
 * The offset from which on nothing in the range is older than `time`. Where the bus does not know,
 * halving finds it: append times do not go back.
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
