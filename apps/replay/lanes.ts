// Reads all topics of one partition once, in batches and roughly in the order of writing. So a
// record and its outputs come close together. Memory: one batch for each topic.

import { batchesOf } from '../../shared/bus/range.ts'
import type { StoredRecord } from '../../shared/contract/bus.ts'
import type { ReadLog, TopicRange } from './log-range.ts'

type Lane = {
  range: TopicRange
  batches: AsyncGenerator<StoredRecord[]>
  batch: StoredRecord[] | undefined
}

/** `isAhead`: a topic of which many records wait for others, so the others are read first. */
export async function* inTurns(
  bus: ReadLog['bus'],
  ranges: readonly TopicRange[],
  isAhead: (range: TopicRange) => boolean,
): AsyncGenerator<{ range: TopicRange; records: StoredRecord[] }> {
  const lanes = ranges.map((range): Lane => {
    const { topic, partition, from, seenTo } = range
    return {
      range,
      batches: batchesOf(bus, { topic, partition, from, to: seenTo }),
      batch: undefined,
    }
  })
  await Promise.all(lanes.map(fill))
  for (;;) {
    const waiting = lanes.filter(({ batch }) => batch !== undefined)
    const behind = waiting.filter(({ range }) => !isAhead(range))
    const next = oldest(behind.length > 0 ? behind : waiting)
    if (next?.batch === undefined) return
    yield { range: next.range, records: next.batch }
    await fill(next)
  }
}

async function fill(lane: Lane): Promise<void> {
  const { value } = await lane.batches.next()
  lane.batch = value ?? undefined
}

function oldest(lanes: Lane[]): Lane | undefined {
  return lanes.reduce<Lane | undefined>(
    (best, lane) => (timeOf(lane) < timeOf(best) ? lane : best),
    undefined,
  )
}

function timeOf(lane: Lane | undefined): number {
  return lane?.batch?.[0]?.time ?? Number.POSITIVE_INFINITY
}
