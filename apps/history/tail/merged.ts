// Merges the records of several partitions. Existing records come in the order of append times, and
// each partition in its own order. New records come as they are appended. Memory: one batch per
// partition.

import { batchesOf, type Range } from '../../../shared/bus/range.ts'
import type { Bus, StoredRecord } from '../../../shared/contract/bus.ts'

type Source = { batches: AsyncGenerator<StoredRecord[]>; waiting: StoredRecord[]; next: number }

/** By append time. At equal times, the lower partition comes first. */
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
 * The records from these offsets on, until `signal` aborts. Reads a partition again only after its
 * last batch was consumed.
 */
export async function* asAppended(
  bus: Bus,
  starts: Pick<Range, 'topic' | 'partition' | 'from'>[],
  signal: AbortSignal,
): AsyncGenerator<StoredRecord> {
  type Pulled = { index: number; records: StoredRecord[] | undefined }
  const sources = starts.map((start) => bus.follow({ ...start, signal })[Symbol.asyncIterator]())
  const pull = async (index: number): Promise<Pulled> => {
    const next = await sources[index]?.next()
    return { index, records: next?.value }
  }
  const pulls = new Map(sources.map((_, index) => [index, pull(index)]))
  while (pulls.size > 0) {
    const { index, records } = await Promise.race(pulls.values())
    if (records === undefined) {
      pulls.delete(index) // aborted
      continue
    }
    yield* records
    pulls.set(index, pull(index))
  }
}
