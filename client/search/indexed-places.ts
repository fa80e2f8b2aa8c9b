// The partitions that the search index reads, and how far it has read them.

import type { PartitionEnds } from '../../shared/contract/bus.ts'
import { endsOf, type ReadableLog } from '../history/readable-log.ts'
import { type IndexedTopic, indexedTopics, type Position, placeOf } from './turn-index.ts'

export type Place = PartitionEnds & { topic: IndexedTopic }

export async function placesOf(log: ReadableLog): Promise<Place[]> {
  const all: Place[] = []
  for (const topic of indexedTopics)
    for (const ends of await endsOf(log, topic)) all.push({ topic, ...ends })
  return all
}

export function nextOf(
  { topic, partition, begin }: Place,
  positions: ReadonlyMap<string, Position>,
): number {
  return Math.max(begin, positions.get(placeOf(topic, partition))?.next ?? begin)
}

/** Whether the last records that were read are still the same ones, as far as they are there. */
export async function isSameLog(
  log: ReadableLog,
  all: readonly Place[],
  positions: ReadonlyMap<string, Position>,
): Promise<boolean> {
  for (const place of all) {
    const { topic, partition, begin, end } = place
    const position = positions.get(placeOf(topic, partition))
    if (position === undefined || position.next === 0) continue
    if (position.next > end) return false
    if (position.next <= begin) continue
    const [last] = await log.bus.read({
      topic: log.topicPrefix + topic,
      partition,
      from: position.next - 1,
      to: position.next,
      limit: 1,
      bytesMax: 1,
    })
    if (last !== undefined && last.offset === position.next - 1 && last.time !== position.time)
      return false
  }
  return true
}
