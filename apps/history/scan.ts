// A partition of a topic read through, for commands that look for something in a log. It says how
// far it has come, and lets Ctrl-C be heard: reading a file waits for nothing, so without it
// nothing else would run until the end.

import { setImmediate as othersTurn } from 'node:timers/promises'
import { batchesOf, firstOffsetSince, type Range } from '../../shared/bus/range.ts'
import type { StoredRecord } from '../../shared/contract/bus.ts'
import type { GuardTopicName, TopicName } from '../../shared/contract/topology.ts'
import type { Milliseconds } from '../../shared/lib/clock.ts'
import { endsOf, type OpenLog } from './open-log.ts'

export type Scanned = {
  topic: TopicName | GuardTopicName
  partition: number
  /** Leaves out what is older. */
  since?: Milliseconds
}

/**
 * Batches in order, to the end that the log has now. Memory: one batch. Nothing where the log is
 * older than the topic.
 */
export async function* scan(log: OpenLog, scanned: Scanned): AsyncGenerator<StoredRecord[]> {
  const range = await rangeOf(log, scanned)
  if (range === undefined) return
  log.progress.expect(range.to - range.from)
  yield* readThrough(log, range)
}

/**
 * As scan, of many, one behind the other: how much there is to read in all is known before the
 * first.
 */
export async function* scanAll<S extends Scanned>(
  log: OpenLog,
  all: readonly S[],
): AsyncGenerator<{ scanned: S; batches: Batches }> {
  const ranges: { scanned: S; range: Range }[] = []
  for (const scanned of all) {
    const range = await rangeOf(log, scanned)
    if (range !== undefined) ranges.push({ scanned, range })
  }
  log.progress.expect(ranges.reduce((sum, { range }) => sum + range.to - range.from, 0))
  for (const { scanned, range } of ranges) yield { scanned, batches: readThrough(log, range) }
}

export type Batches = AsyncIterable<StoredRecord[]>

async function rangeOf(
  log: OpenLog,
  { topic, partition, since = 0 }: Scanned,
): Promise<Range | undefined> {
  const ends = (await endsOf(log, topic)).find((other) => other.partition === partition)
  if (ends === undefined) return undefined
  const whole = { topic: log.topicPrefix + topic, partition, from: ends.begin, to: ends.end }
  return since === 0 ? whole : { ...whole, from: await firstOffsetSince(log.bus, whole, since) }
}

async function* readThrough(log: OpenLog, range: Range): AsyncGenerator<StoredRecord[]> {
  for await (const records of batchesOf(log.bus, range)) {
    log.progress.read(records.length)
    yield records
    await othersTurn()
  }
}
