// Reads a partition of a topic to its end, for commands that search a log. Reports the progress,
// and yields between batches. A file read never waits, so Ctrl-C would not be handled before the
// end.

import { setImmediate as othersTurn } from 'node:timers/promises'
import { batchesOf, firstOffsetSince, type Range } from '../../shared/bus/range.ts'
import type { StoredRecord } from '../../shared/contract/bus.ts'
import type { GuardTopicName, TopicName } from '../../shared/contract/topology.ts'
import type { Milliseconds } from '../../shared/lib/clock.ts'
import { endsOf, type ReadableLog } from './readable-log.ts'

export type Scanned = {
  topic: TopicName | GuardTopicName
  partition: number
  /** Omits older records. */
  since?: Milliseconds
  /** Only its records are wanted. Others may come too. */
  key?: string
}

/**
 * Batches in order, up to the present end of the log. Memory: one batch. Yields nothing if the log
 * is older than the topic.
 */
export async function* scan(log: ReadableLog, scanned: Scanned): AsyncGenerator<StoredRecord[]> {
  const range = await rangeOf(log, scanned)
  if (range === undefined) return
  log.progress.expect(range.to - range.from)
  yield* readThrough(log, range)
}

/**
 * As scan, for several partitions in sequence. The progress knows the total before the first batch.
 */
export async function* scanAll<S extends Scanned>(
  log: ReadableLog,
  all: readonly S[],
): AsyncGenerator<{ scanned: S; batches: Batches }> {
  const ranges: { scanned: S; range: KeyedRange }[] = []
  for (const scanned of all) {
    const range = await rangeOf(log, scanned)
    if (range !== undefined) ranges.push({ scanned, range })
  }
  log.progress.expect(ranges.reduce((sum, { range }) => sum + range.to - range.from, 0))
  for (const { scanned, range } of ranges) yield { scanned, batches: readThrough(log, range) }
}

export type Batches = AsyncIterable<StoredRecord[]>

type KeyedRange = Range & { keys: readonly string[] | undefined }

async function rangeOf(
  log: ReadableLog,
  { topic, partition, since = 0, key }: Scanned,
): Promise<KeyedRange | undefined> {
  const ends = (await endsOf(log, topic)).find((other) => other.partition === partition)
  if (ends === undefined) return undefined
  const keys = key === undefined ? undefined : [key]
  const whole = { topic: log.topicPrefix + topic, partition, from: ends.begin, to: ends.end, keys }
  return since === 0 ? whole : { ...whole, from: await firstOffsetSince(log.bus, whole, since) }
}

async function* readThrough(log: ReadableLog, range: KeyedRange): AsyncGenerator<StoredRecord[]> {
  let next = range.from
  for await (const records of batchesOf(log.bus, range)) {
    const end = (records.at(-1)?.offset ?? next) + 1
    log.progress.read(end - next)
    next = end
    yield records
    await othersTurn()
  }
  if (next < range.to) log.progress.read(range.to - next)
}
