// Finds records of dead letters that were already written again: it recognizes them by their bytes.
// It reads the log once for all letters. Memory: a digest for each letter, and the places of its
// copies.

import { createHash } from 'node:crypto'
import { scan } from '../../../client/history/scan.ts'
import type { Offset } from '../../../shared/contract/bus.ts'
import type { DeadLetter } from '../../../shared/contract/messages.ts'
import { partitionOf } from '../../../shared/contract/partition.ts'
import type { TopicName } from '../../../shared/contract/topology.ts'
import type { Milliseconds } from '../../../shared/lib/clock.ts'
import { parseId } from '../../../shared/runtime/derived-id.ts'
import type { OpenLog } from '../open-log.ts'
import { faultOf, type Letter, type Original, originalOf, retryTopicOf } from './letters.ts'

export type Copies = {
  /**
   * The offset of a copy that is newer than the letter, in the partition of its key. Undefined:
   * there is none.
   */
  of(original: Original, letter: DeadLetter): Offset | undefined
  /** Adds a copy that was just written. */
  written(original: Original, offset: Offset): void
}

type Copy = { offset: Offset; time: Milliseconds }
type Stretch = { topic: TopicName; partition: number; since: Milliseconds; keys: Set<string> }

/** Ignores letters whose record cannot be written again. */
export async function copiesOf(log: OpenLog, letters: readonly Letter[]): Promise<Copies> {
  const copies = new Map<string, Copy[]>()
  const stretches = new Map<string, Stretch>()
  for (const { letter } of letters) {
    const original = await originalOf(log, letter)
    const topic = retryTopicOf(original)
    if (topic === undefined || faultOf(original) !== undefined) continue
    copies.set(digestOf(topic, original.key, original.value), [])
    const partition = partitionOf(original.key, log.partitions)
    const place = `${topic}/${partition}`
    const known = stretches.get(place) ?? {
      topic,
      partition,
      since: letter.time,
      keys: new Set(),
    }
    stretches.set(place, {
      ...known,
      since: Math.min(known.since, letter.time),
      keys: known.keys.add(original.key),
    })
  }
  for (const { topic, partition, since, keys } of stretches.values())
    for await (const records of scan(log, { topic, partition, since }))
      for (const { key, value, offset, time } of records)
        if (value !== null && keys.has(key))
          copies.get(digestOf(topic, key, value))?.push({ offset, time })

  return {
    of(original, letter) {
      const { key, value } = original
      const topic = retryTopicOf(original)
      const partition = partitionOf(key, log.partitions)
      const isItself = (copy: Copy) =>
        partition === letter.partition && copy.offset <= offsetIn(topic, original, letter)
      const all = topic === undefined ? [] : (copies.get(digestOf(topic, key, value)) ?? [])
      return all.find((copy) => copy.time >= letter.time && !isItself(copy))?.offset
    },
    written(original, offset) {
      const { key, value } = original
      const topic = retryTopicOf(original)
      if (topic !== undefined)
        copies.get(digestOf(topic, key, value))?.push({ offset, time: Number.POSITIVE_INFINITY })
    },
  }
}

/**
 * The offset of the letter's record in the topic of the retry. The id of a copy names its message in
 * the clients' topic.
 */
function offsetIn(
  topic: TopicName | undefined,
  { topic: own, id }: Original,
  letter: DeadLetter,
): Offset {
  return topic === own ? letter.offset : (parseId(id)?.offset ?? -1)
}

function digestOf(topic: TopicName, key: string, value: Uint8Array): string {
  return createHash('sha256')
    .update(JSON.stringify([topic, key]))
    .update(value)
    .digest('base64')
}
