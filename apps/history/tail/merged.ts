// Records of several partitions as one stream. What was there at the beginning comes in the order
// of append times, each partition in its own order; what comes later comes as it is heard. Memory:
// one batch for each partition.

import { batchesOf, type Range } from '../../../shared/bus/range.ts'
import type { Bus, StoredRecord } from '../../../shared/contract/bus.ts'

type Source = { batches: AsyncGenerator<StoredRecord[]>; waiting: StoredRecord[]; next: number }

/** By append time; of records as old as each other, that of the lower partition first. */
export async function* inTimeOrder(
  bus: Bus,
  ranges: Range[],
  signal: AbortSignal,
): AsyncGenerator<StoredRecord> {
  const sources = ranges.map(
    (range): Source => ({ batches: batchesOf(bus, range, signal), waiting: [], next: 0 }),
  )
  await Promise.all(sources.map(fill))
  for (;;) {
    const oldest = sources.reduce<Source | undefined>(
      (best, source) => (timeOf(source) < timeOf(best) ? source : best),
      undefined,
    )
    const record = oldest?.waiting[oldest.next]
    if (oldest === undefined || record === undefined || signal.aborted) return
    oldest.next += 1
    yield record
    if (oldest.next === oldest.waiting.length) await fill(oldest)
  }
}

async function fill(source: Source): Promise<void> {
  const { value } = await source.batches.next()
  source.waiting = value ?? []
  source.next = 0
}

function timeOf(source: Source | undefined): number {
  return source?.waiting[source.next]?.time ?? Number.POSITIVE_INFINITY
}

/**
 * What is in the partitions from these offsets on, until `signal` aborts. Each partition is read on
 * only when its batch was taken.
 */
export async function* asTheyCome(
  bus: Bus,
  starts: Pick<Range, 'topic' | 'partition' | 'from'>[],
  signal: AbortSignal,
): AsyncGenerator<StoredRecord> {
  type Heard = { index: number; records: StoredRecord[] | undefined }
  const sources = starts.map((start) => bus.follow({ ...start, signal })[Symbol.asyncIterator]())
  const hear = async (index: number): Promise<Heard> => {
    const heard = await sources[index]?.next()
    return { index, records: heard?.value }
  }
  const hearing = new Map(sources.map((_, index) => [index, hear(index)]))
  while (hearing.size > 0) {
    const { index, records } = await Promise.race(hearing.values())
    if (records === undefined) {
      hearing.delete(index) // aborted
      continue
    }
    yield* records
    hearing.set(index, hear(index))
  }
}
