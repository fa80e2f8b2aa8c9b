// The records of a topic, newest first: walks back from the end of the log, over all partitions at
// once.

import { typeIn } from '../../shared/codec/codec.ts'
import type { Bus, Offset, StoredRecord } from '../../shared/contract/bus.ts'
import type { TopicName } from '../../shared/contract/topology.ts'
import { endsOf } from './readable-log.ts'

export type ReadableTopics = { bus: Pick<Bus, 'ends' | 'read'>; topicPrefix: string }

/** Records to read ahead of one partition. Small, because a reply may be large, and a file larger. */
const chunkOf = (name: TopicName) => (name === 'history' ? 32 : 64)

type Walk = { partition: number; begin: Offset; next: Offset; waiting: StoredRecord[] }

/**
 * In order of append time; within a partition, in reverse order of the log. Leaves out records
 * from before the deletion of their conversation. Memory: one chunk per partition, and the deleted ids.
 */
export async function* newestRecords(
  log: ReadableTopics,
  name: TopicName,
): AsyncGenerator<StoredRecord> {
  const topic = log.topicPrefix + name
  const chunkRecords = chunkOf(name)
  const walks = (await endsOf(log, name)).map(
    ({ partition, begin, end }): Walk => ({ partition, begin, next: end, waiting: [] }),
  )
  const forgotten = new Set<string>()
  for (;;) {
    for (const walk of walks) await fill(walk)
    const newest = walks.reduce<Walk | undefined>(
      (best, walk) => (timeOf(walk) > timeOf(best) ? walk : best),
      undefined,
    )
    const record = newest?.waiting.pop()
    if (record === undefined) return
    const { key, value } = record
    if (value !== null && typeIn(value) === 'conversation-forgotten') forgotten.add(key)
    if (!forgotten.has(key)) yield record
  }

  async function fill(walk: Walk): Promise<void> {
    while (walk.waiting.length === 0 && walk.next > walk.begin) {
      const from = Math.max(walk.begin, walk.next - chunkRecords)
      walk.waiting = await log.bus.read({
        topic,
        partition: walk.partition,
        from,
        to: walk.next,
        limit: chunkRecords,
      })
      walk.next = from
    }
  }
}

function timeOf(walk: Walk | undefined): number {
  return walk?.waiting.at(-1)?.time ?? Number.NEGATIVE_INFINITY
}

/** At most `max` different conversation ids, the most recently active first. */
export async function newestIds(log: ReadableTopics, max: number): Promise<string[]> {
  const ids = new Set<string>()
  for await (const { key } of newestRecords(log, 'activity')) {
    if (ids.size >= max) break
    ids.add(key)
  }
  return [...ids]
}
